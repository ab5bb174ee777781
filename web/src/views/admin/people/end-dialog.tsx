import { useState } from 'preact/hooks';
import { changeUser } from '../../../api/identity/people.ts';
import { TextField } from '../../../ui/fields/field.tsx';
import { ConfirmedDialog } from './confirmed-dialog.tsx';
import type { PersonDialogProps } from './person-dialog-props.ts';

const two = (number: number): string => String(number).padStart(2, '0');

/** The day of a time by the reader's clock, as a date field has it; empty for null. */
const dayOf = (iso: string | null): string => {
  if (iso === null) return '';
  const at = new Date(iso);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
};

/** The end of a day by the reader's clock; null for an empty field. */
export const endOfDay = (day: string): string | null =>
  day === '' ? null : new Date(`${day}T23:59:59`).toISOString();

const DAY_INPUT = { type: 'date', name: 'ends_at', required: false } as const;

type EndFieldProps = {
  readonly day: string;
  readonly onInput: (day: string) => void;
  readonly error?: string | undefined;
};

/** When an account ends: the last day, or none. */
export const EndField = ({ day, onInput, error }: EndFieldProps) => (
  <TextField
    label="Last day of the account"
    value={day}
    onInput={onInput}
    error={error}
    hint="Optional. The account is disabled at the end of this day; containers and files are kept."
    input={{ ...DAY_INPUT, min: dayOf(new Date().toISOString()) }}
  />
);

/** Sets or removes the end of an account; of a disabled one, enables it. */
export function EndDialog({ user, onChanged, onClose }: PersonDialogProps) {
  const [day, setDay] = useState(dayOf(user.ends_at));
  return (
    <ConfirmedDialog
      title={`End of the account of ${user.username}`}
      action="Save"
      busy="Saving"
      fields={['ends_at']}
      work={(proof) => changeUser(user.id, { ends_at: endOfDay(day), ...proof })}
      onDone={(after) => onChanged(after, user)}
      onClose={onClose}
    >
      {(faults) => <EndField day={day} onInput={setDay} error={faults['ends_at']} />}
    </ConfirmedDialog>
  );
}
