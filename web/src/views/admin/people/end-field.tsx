import { SelectField, TextField } from '../../../ui/fields/field.tsx';
import { type EndChoice, endDays } from './account-end.ts';

const KINDS: readonly (readonly [kind: EndChoice['kind'], label: string])[] = [
  ['never', 'No end'],
  ['day', 'After a last day'],
];

type EndFieldProps = {
  readonly name: string;
  readonly choice: EndChoice;
  readonly onChoice: (choice: EndChoice) => void;
  readonly error?: string | undefined;
};

/** When an account ends: after a last day, or not at all. */
export const EndField = ({ name, choice, onChoice, error }: EndFieldProps) => (
  <>
    <SelectField
      label="End of the account"
      value={choice.kind}
      onInput={(kind) => onChoice({ ...choice, kind: kind === 'day' ? 'day' : 'never' })}
      options={KINDS}
    />
    {choice.kind === 'day' && (
      <TextField
        label="Last day"
        value={choice.day}
        onInput={(day) => onChoice({ ...choice, day })}
        error={error}
        hint="The account is disabled at the end of this day; containers and files are kept."
        input={{ type: 'date', name, ...endDays(new Date()) }}
      />
    )}
  </>
);
