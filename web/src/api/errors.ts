import type { BerthError, FieldFaults } from '../../../src/client/request/errors.ts';

export {
  BerthError,
  type FieldFaults,
  hasStatus,
  unanswered,
  unreachable,
} from '../../../src/client/request/errors.ts';

/** The service's words, which read on from a field's name, as a sentence of their own. */
export const sentence = (words: string): string =>
  words.charAt(0).toUpperCase() + words.slice(1).replace(/([^.!?])$/, '$1.');

/** Faults by field for a form: the service's own, and codes that are about one field. */
export function fieldFaults(error: BerthError): FieldFaults {
  if (error.code === 'name_taken') return { name: 'You already have a container with this name.' };
  return Object.fromEntries(Object.entries(error.fields).map(([name, words]) => [name, sentence(words)]));
}
