/** Frames as tables: each field has a reader, and the readers give the frame its type. */

/** A reader's result for a value that invalidates the frame. */
const INVALID = Symbol('invalid');

type Reader<T> = (value: unknown) => T | typeof INVALID;
type Fields = { readonly [name: string]: Reader<unknown> };
type Read<F extends Fields> = { readonly [N in keyof F]: Exclude<ReturnType<F[N]>, typeof INVALID> };

/** The union of all frames in a table, which has their fields by type. */
export type FrameIn<T extends { readonly [type: string]: Fields }> = {
  [N in keyof T]: { readonly type: N } & Read<T[N]>;
}[keyof T];

/** Readers that refuse a frame. */
export const integer =
  (min: number, max: number) =>
  (value: unknown): number | typeof INVALID =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max ? Number(value) : INVALID;
export const number = (value: unknown): number | typeof INVALID =>
  Number.isFinite(value) ? Number(value) : INVALID;
export const optional =
  <T>(read: Reader<T>) =>
  (value: unknown): T | null | typeof INVALID =>
    value === undefined || value === null ? null : read(value);

/** Readers that replace missing or wrong values by safe ones, since the other side may be of another version. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const count = (value: unknown): number =>
  typeof value === 'number' && value >= 0 ? Math.floor(value) : 0;
export const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);
export const positiveOrNull = (value: unknown): number | null => count(value) || null;
export const isTrue = (value: unknown): boolean => value === true;
export const isNotFalse = (value: unknown): boolean => value !== false;
/** The first value stands for all unknown ones. */
export const oneOf =
  <T extends string>(...values: readonly [T, ...T[]]) =>
  (value: unknown): T =>
    values.find((known) => known === value) ?? values[0];
export const listOf =
  <F extends Fields>(fields: F) =>
  (value: unknown): readonly Read<F>[] =>
    (Array.isArray(value) ? value : []).map((item) => read(fields, item)).filter((item) => item !== null);
export const objectOrNull =
  <F extends Fields>(fields: F) =>
  (value: unknown): Read<F> | null =>
    read(fields, value);

function read<F extends Fields>(fields: F, wire: unknown): Read<F> | null {
  if (typeof wire !== 'object' || wire === null) return null;
  const entries: [string, unknown][] = [];
  for (const [name, reader] of Object.entries(fields)) {
    const value = reader((wire as { readonly [name: string]: unknown })[name]);
    if (value === INVALID) return null;
    entries.push([name, value]);
  }
  return Object.fromEntries(entries) as Read<F>;
}

/** Decodes JSON by a table. null for all but a known frame with valid fields. */
export function decode<T extends { readonly [type: string]: Fields }>(
  table: T,
  json: string,
): FrameIn<T> | null {
  let wire: { readonly type?: unknown } | null;
  try {
    wire = JSON.parse(json);
  } catch {
    return null;
  }
  const type = wire?.type;
  if (typeof type !== 'string' || !Object.hasOwn(table, type)) return null;
  const frame = read(table[type] ?? {}, wire);
  return frame === null ? null : ({ type, ...frame } as FrameIn<T>);
}
