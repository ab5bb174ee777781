import { TextField, VERBATIM } from '../../ui/fields/field.tsx';

type CodeFieldProps = {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly error: string | undefined;
  readonly hint: string;
  readonly autofocus?: boolean;
};

/** For a code of the second factor. */
export function CodeField({ autofocus, ...field }: CodeFieldProps) {
  const input = {
    ...VERBATIM,
    name: 'code',
    autocomplete: 'one-time-code',
    required: true,
    maxLength: 64,
    ...(autofocus && { 'data-autofocus': true }),
  };
  return <TextField label="Code" {...field} input={input} />;
}
