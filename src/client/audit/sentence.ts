/** Something that a sentence names. `name` is what the record says, empty when it has the id alone. */
export type Noun = {
  readonly kind: 'container' | 'machine' | 'user' | 'recording' | 'thing';
  readonly id: string;
  readonly name: string;
};

/** Words and nouns in their order. */
export type Sentence = readonly (string | Noun)[];

/** A text or number of a record's details by its key, empty without one. */
export type DetailOf = (key: string) => string;

/** Names of containers and users by id, beside those in the record. */
export type KnownNames = ReadonlyMap<string, string>;

/** A template whose values are nouns. */
export const say = (words: readonly string[], ...nouns: readonly Noun[]): Sentence =>
  words.flatMap((text, index) => [text, nouns[index] ?? '']).filter((part) => part !== '');

export const thing = (name: string): Noun => ({ kind: 'thing', id: '', name });
export const user = (id: string, name = ''): Noun => ({ kind: 'user', id, name });
export const container = (of: DetailOf): Noun => ({
  kind: 'container',
  id: of('container_id') || of('id'),
  name: of('container_name'),
});

/** The noun's name, else its kind and the start of its id. */
export function nounText({ kind, id, name }: Noun, known: KnownNames): string {
  const found = name || known.get(id);
  if (found) return found;
  if (kind === 'thing') return 'something';
  return id === '' ? `a ${kind}` : `${kind} ${id.replace(/^agent:/, '').slice(0, 8)}`;
}

export const sentenceText = (sentence: Sentence, known: KnownNames): string =>
  sentence.map((part) => (typeof part === 'string' ? part : nounText(part, known))).join('');

/** Reads details. Those that are no JSON object are one id. */
export function detailsOf(details: string): DetailOf {
  const read = parsed(details) ?? { id: details };
  return (key) => {
    const value = Object.hasOwn(read, key) ? read[key] : undefined;
    return typeof value === 'object' || value === undefined ? '' : String(value);
  };
}

function parsed(details: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(details);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
