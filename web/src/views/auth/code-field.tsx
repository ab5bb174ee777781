import { TextField, VERBATIM } from '../../ui/field.tsx';

type CodeFieldProps = {
  readonly code: string;
  readonly onInput: (code: string) => void;
  readonly error: string | undefined;
  readonly hint: string;
  readonly autofocus?: boolean;
};

/** For a code of the second factor. */
export function CodeField({ code, onInput, error, hint, autofocus }: CodeFieldProps) {
  const input = {
    ...VERBATIM,
    name: 'code',
    autocomplete: 'one-time-code',
    required: true,
    maxLength: 64,
    ...(autofocus && { 'data-autofocus': true }),
  };
  return <TextField label="Code" value={code} onInput={onInput} error={error} hint={hint} input={input} />;
}
