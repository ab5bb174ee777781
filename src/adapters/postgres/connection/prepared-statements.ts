import { createHash } from 'node:crypto';

/** Each is kept on every connection, with a plan of about 20 kB. */
const MAX_STATEMENTS = 300;
/** Longer ones insert a varying number of rows, so each text is rare. */
const MAX_PARAMETERS = 30;

const names = new Map<string, string>();

/**
 * The arguments of a query as a prepared statement, which the server parses and plans once per connection instead of
 * each time; null for one that is not worth it. A read of one row by its key then takes half of the time.
 */
export function preparedStatement([text, values, ...rest]: readonly unknown[]): readonly unknown[] | null {
  if (typeof text !== 'string' || !Array.isArray(values)) return null;
  if (values.length === 0 || values.length > MAX_PARAMETERS) return null;
  const name = names.get(text) ?? newName(text);
  return name === null ? null : [{ text, values, name }, ...rest];
}

function newName(text: string): string | null {
  if (names.size >= MAX_STATEMENTS) return null;
  const name = createHash('sha256').update(text).digest('base64url');
  names.set(text, name);
  return name;
}
