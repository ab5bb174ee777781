import type { ComponentChildren } from 'preact';
import { changeEntry, createEntry, type EntryKind } from '../../api/containers/catalogue.ts';
import type { FieldFaults } from '../../api/errors.ts';
import { toastOk } from '../../state/toasts.ts';
import { TextField, VERBATIM } from '../../ui/fields/field.tsx';
import { useSubmit } from '../auth/use-submit.ts';
import { FormDialog } from '../form-dialog.tsx';

type EntryFormProps = {
  readonly kind: EntryKind;
  /** With its article. */
  readonly noun: string;
  /** Key and name of the entry to change; null for a new one. */
  readonly before: { readonly key: string; readonly label: string } | null;
  /** The entry's name when it is saved. */
  readonly label: string;
  readonly body: () => object;
  readonly fields: readonly string[];
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: (faults: FieldFaults) => ComponentChildren;
};

/** A dialog that makes or changes an entry. */
export function EntryForm(props: EntryFormProps) {
  const { kind, before, body, onClose } = props;
  const form = useSubmit(async () => {
    await (before === null ? createEntry(kind, body()) : changeEntry(kind, before.key, body()));
    toastOk(`${props.label} saved`);
    props.onDone();
    onClose();
  }, props.fields);
  return (
    <FormDialog
      title={before === null ? `Add ${props.noun}` : `Change ${before.label}`}
      form={form}
      action={before === null ? 'Add' : 'Save'}
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
  /** The key of an existing entry never changes. */
  readonly isNew: boolean;
  readonly example: string;
  readonly onInput: (change: Partial<Named>) => void;
  readonly faults: FieldFaults;
};

/** The names of an entry, for programs and for users. */
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
        hint="Shown in the page."
        input={isNew ? VERBATIM : FIRST_INPUT}
      />
    </div>
  );
}
