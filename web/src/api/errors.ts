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

const NOUNS: Readonly<Record<string, string>> = {
  email: 'This email address',
  username: 'This username',
  name: 'This name',
  key: 'This key',
  label: 'This label',
  public_key: 'This key',
};

/** `is already in use` needs a subject at its field, `must be short` does not. */
const atField = (name: string, words: string): string =>
  sentence(/^(is|has|cannot) /.test(words) ? `${NOUNS[name] ?? 'This value'} ${words}` : words);

/** Faults by field for a form: the service's own, and codes that are about one field. */
export function fieldFaults(error: BerthError): FieldFaults {
  if (error.code === 'name_taken') return { name: 'You already have a container with this name.' };
  return Object.fromEntries(
    Object.entries(error.fields).map(([name, words]) => [name, atField(name, words)]),
  );
}
