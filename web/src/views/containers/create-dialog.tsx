import type { FieldFaults } from '../../api/errors.ts';
import type { NewContainer } from '../../api/types.ts';
import { addsTools, toolsHint } from '../../lib/role-tools.ts';
import { engineDoes } from '../../state/engine.ts';
import { SelectField } from '../../ui/fields/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { FormDialog } from '../form-dialog.tsx';
import { NameField } from './name-field.tsx';
import { SizePicker } from './size-picker.tsx';
import { useCatalogue } from './use-catalogue.ts';
import { useCreating } from './use-create-form.ts';

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const { body, change, correct, form, isUnsure } = useCreating(onClose);
  const catalogue = useCatalogue(correct);
  const { images = [], roles = [], tier } = catalogue.value ?? {};
  const choice = { body, onChange: change, faults: form.faults };
  return (
    <FormDialog
      title="New container"
      form={form}
      action="Create"
      busy="Creating"
      cancel={form.busy ? 'Continue in the background' : 'Cancel'}
      onClose={onClose}
      novalidate
    >
      {isUnsure && (
        <p class="note" role="status">
          Berth did not respond, so {body.name} may or may not have been created. Checking…
        </p>
      )}
      {catalogue.failure !== null && <Problem failure={catalogue.failure} />}
      <NameField
        value={body.name}
        onInput={(name) => change({ name })}
        error={form.faults['name']}
        hint="Letters, digits and hyphens."
      />
      <div class="field-pair">
        <Choice label="Image" field="image" options={images} {...choice} />
        <Choice
          label="Toolset"
          field="role"
          options={engineDoes('has_root') ? roles : roles.filter((role) => !addsTools(role))}
          hint={toolsHint(roles.find(({ key }) => key === body.role))}
          {...choice}
        />
      </div>
      {tier && <SizePicker tier={tier} {...choice} />}
      {!engineDoes('keeps_layer') && (
        <p class="note still">
          A stopped container keeps only <code>/workspace</code>.
        </p>
      )}
    </FormDialog>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly field: 'image' | 'role';
  readonly options: readonly { readonly key: string; readonly label: string }[];
  readonly body: NewContainer;
  readonly onChange: (change: Partial<NewContainer>) => void;
  readonly faults: FieldFaults;
  readonly hint?: string;
};

/** A choice from the catalogue; nothing when there is none. */
function Choice({ label, field, options, body, onChange, faults, hint }: ChoiceProps) {
  if (options.length === 0) return null;
  return (
    <SelectField
      label={label}
      value={body[field] ?? ''}
      onInput={(value) => onChange({ [field]: value })}
      options={options.map(({ key, label: text }) => [key, text] as const)}
      error={faults[field]}
      hint={hint}
    />
  );
}
