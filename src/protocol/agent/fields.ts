/** Readers that refuse a message with a wrong or too long value. See `frames.ts`. */
import { INVALID, objectOrNull, type Reader, reader } from '../frames.ts';

/** At most this many UTF-16 units. */
export const textUpTo = (maxLength: number): Reader<string> =>
  reader({ type: 'string', maxLength }, (value) =>
    typeof value === 'string' && value.length <= maxLength ? value : INVALID,
  );

export const matching = (pattern: RegExp): Reader<string> =>
  reader({ type: 'string', pattern: pattern.source }, (value) =>
    typeof value === 'string' && pattern.test(value) ? value : INVALID,
  );

export const exactly = <T extends string>(...values: readonly [T, ...T[]]): Reader<T> =>
  reader<T>({ enum: values }, (value) => values.find((known) => known === value) ?? INVALID);

export const textsUpTo = (maxItems: number, maxLength: number): Reader<readonly string[]> =>
  reader({ type: 'array', items: { type: 'string', maxLength }, minItems: 1, maxItems }, (value) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxItems) return INVALID;
    const isFit = (item: unknown) => typeof item === 'string' && item.length <= maxLength;
    return value.every(isFit) ? (value as readonly string[]) : INVALID;
  });

/** A map with names that a shell accepts. */
export const environment = (maxNames: number, maxLength: number): Reader<Readonly<Record<string, string>>> =>
  reader({ type: 'object', additionalProperties: { type: 'string' }, maxProperties: maxNames }, (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return INVALID;
    const entries = Object.entries(value);
    const isFit = ([name, text]: [string, unknown]): boolean =>
      /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) &&
      typeof text === 'string' &&
      text.length <= maxLength &&
      !text.includes('\0');
    return entries.length <= maxNames && entries.every(isFit) ? Object.fromEntries(entries) : INVALID;
  });

export const listUpTo = <T>(maxItems: number, item: Reader<T>): Reader<readonly T[]> =>
  reader({ type: 'array', items: item.schema, maxItems }, (value) => {
    if (!Array.isArray(value) || value.length > maxItems) return INVALID;
    const items = value.map((one) => item(one));
    return items.includes(INVALID) ? INVALID : (items as readonly T[]);
  });

/** An object with these fields; any fault in it refuses the message. */
export function objectOf<F extends Parameters<typeof objectOrNull>[0]>(fields: F) {
  const read = objectOrNull(fields);
  type Value = NonNullable<Exclude<ReturnType<typeof read>, typeof INVALID>>;
  return reader<Value>(read.schema, (value) => (read(value) ?? INVALID) as Value | typeof INVALID);
}
