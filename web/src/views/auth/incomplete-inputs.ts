import type { FieldFaults } from '../../api/errors.ts';

type Input = Pick<HTMLInputElement, 'name' | 'type'> & {
  readonly validity: Pick<ValidityState, 'badInput'>;
};

const WORDS: Readonly<Record<string, string>> = {
  date: 'must be a complete date',
  'datetime-local': 'must be a complete date and time',
};

/** Faults of inputs with half a date in them: their `value` is empty, as if nothing had been entered. */
export const incompleteInputs = (inputs: Iterable<Input>): FieldFaults =>
  Object.fromEntries(
    [...inputs]
      .filter(({ validity }) => validity.badInput)
      .map(({ name, type }) => [name, WORDS[type] ?? 'must be complete']),
  );
