import { TextField, VERBATIM } from '../../ui/fields/field.tsx';

const INPUT = { ...VERBATIM, name: 'name', maxLength: 64, 'data-autofocus': true } as const;

type NameFieldProps = {
  readonly label?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly error: string | undefined;
  readonly hint?: string;
};

/** For the name of a container. */
export const NameField = ({ label = 'Name', ...field }: NameFieldProps) => (
  <TextField label={label} {...field} input={INPUT} />
);
