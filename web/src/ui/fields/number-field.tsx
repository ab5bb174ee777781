import { useState } from 'preact/hooks';
import { wholeNumber } from '../../lib/format/whole-number.ts';
import { TextField } from './field.tsx';

/** The typed text while it means the value. An empty field stays empty, and its value is NaN. */
export function useNumberText(value: number, onInput: (value: number) => void) {
  const [typed, setTyped] = useState(String(value));
  return {
    text: Object.is(wholeNumber(typed), value) ? typed : String(value),
    type: (text: string): void => {
      setTyped(text);
      onInput(wholeNumber(text));
    },
  };
}

type NumberProps = {
  readonly label: string;
  readonly value: number;
  /** Gets NaN for what is no whole number. */
  readonly onInput: (value: number) => void;
  readonly error?: string | undefined;
  readonly hint?: string;
  readonly unit?: string;
};

const INPUT = { inputMode: 'numeric', autocomplete: 'off' } as const;

/** A labelled whole number. */
export function NumberField({ value, onInput, ...field }: NumberProps) {
  const { text, type } = useNumberText(value, onInput);
  return <TextField {...field} value={text} onInput={type} input={INPUT} />;
}
