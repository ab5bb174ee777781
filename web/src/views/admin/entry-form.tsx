import type { ComponentChildren } from 'preact';
import { changeEntry, createEntry, type EntryKind } from '../../api/catalogue.ts';
import type { FieldFaults } from '../../api/errors.ts';
import { toastOk } from '../../state/toasts.ts';
import { TextField, VERBATIM } from '../../ui/field.tsx';
import { useSubmit } from '../auth/use-submit.ts';
import { FormDialog } from '../form-dialog.tsx';

type EntryFormProps = {
  readonly kind: EntryKind;
  readonly title: string;
  /** Of what is changed; null for a new one. */
  readonly entryKey: string | null;
  readonly body: () => object;
  readonly fields: readonly string[];
  readonly done: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: (faults: FieldFaults) => ComponentChildren;
};

/** A dialog that makes or changes an entry. */
export function EntryForm(props: EntryFormProps) {
  const { kind, entryKey, body, onClose } = props;
  const form = useSubmit(async () => {
    await (entryKey === null ? createEntry(kind, body()) : changeEntry(kind, entryKey, body()));
    toastOk(props.done);
    props.onDone();
    onClose();
  }, props.fields);
  return (
    <FormDialog
      title={props.title}
      form={form}
      action={entryKey === null ? 'Add' : 'Save'}
      busy="Saving"
      onClose={onClose}
      novalidate
      locked
    >
      {props.children(form.faults)}
    </FormDialog>
  );
}

export const FIRST_INPUT = { ...VERBATIM, 'data-autofocus': true } as const;

type Named = { readonly key: string; readonly label: string };

type NamesProps = {
  readonly of: Named;
  /** The key of what is there already never changes. */
  readonly isNew: boolean;
  readonly example: string;
  readonly onInput: (part: Partial<Named>) => void;
  readonly faults: FieldFaults;
};

/** What programs call an entry, and what people choose. */
export function NameFields({ of: { key, label }, isNew, example, onInput, faults }: NamesProps) {
  return (
    <div class="field-pair">
      {isNew && (
        <TextField
          label="Key"
          value={key}
          onInput={(text) => onInput({ key: text })}
          error={faults['key']}
          hint={`Used in the API, for example ${example}.`}
          input={FIRST_INPUT}
        />
      )}
      <TextField
        label="Label"
        value={label}
        onInput={(text) => onInput({ label: text })}
        error={faults['label']}
        hint="Shown to users."
        input={isNew ? VERBATIM : FIRST_INPUT}
      />
    </div>
  );
}
