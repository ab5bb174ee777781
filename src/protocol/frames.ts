/**
 * Frames as tables: each field has a reader, and the readers give the frame its type. Each reader also has the JSON
 * Schema of what a sender of this version sends.
 */

/** A reader's result for a value that invalidates the frame. */
export const INVALID = Symbol('invalid');

export type JsonSchema = { readonly [keyword: string]: unknown };
export type Reader<T> = { (value: unknown): T | typeof INVALID; readonly schema: JsonSchema };
type Fields = { readonly [name: string]: Reader<unknown> };
type Table = { readonly [type: string]: Fields };
type Read<F extends Fields> = { readonly [N in keyof F]: Exclude<ReturnType<F[N]>, typeof INVALID> };

/** The union of all frames in a table, which has their fields by type. */
export type FrameIn<T extends Table> = {
  [N in keyof T]: { readonly type: N } & Read<T[N]>;
}[keyof T];

export const reader = <T>(schema: JsonSchema, read: (value: unknown) => T | typeof INVALID): Reader<T> =>
  Object.assign(read, { schema });

const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

/** Readers that refuse a frame. */
export const integer = (minimum: number, maximum: number) =>
  reader({ type: 'integer', minimum, maximum }, (value) =>
    Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum ? Number(value) : INVALID,
  );
export const number = reader({ type: 'number' }, (value) =>
  Number.isFinite(value) ? Number(value) : INVALID,
);
export const optional = <T>(read: Reader<T>) =>
  reader({ ...orNull(read.schema), optional: true }, (value): T | null | typeof INVALID =>
    value === undefined || value === null ? null : read(value),
  );
/** Text that a system call accepts: no NUL, no lone surrogate. */
const TEXT_PATTERN = '^[^\\u0000\\ud800-\\udfff]*$';
const WHOLE_TEXT = new RegExp(TEXT_PATTERN, 'u');
export const textWithin = (minLength: number, maxLength: number) =>
  reader({ type: 'string', minLength, maxLength, pattern: TEXT_PATTERN }, (value) =>
    typeof value === 'string' &&
    value.length >= minLength &&
    value.length <= maxLength &&
    WHOLE_TEXT.test(value)
      ? value
      : INVALID,
  );
export const texts = (minItems: number, maxItems: number, item: Reader<string>) =>
  reader(
    { type: 'array', minItems, maxItems, items: item.schema },
    (value): readonly string[] | typeof INVALID => {
      if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return INVALID;
      return value.every((one) => item(one) !== INVALID) ? (value as string[]) : INVALID;
    },
  );
export const textsByName = reader(
  { type: 'object', additionalProperties: { type: 'string' } },
  (value): Readonly<Record<string, string>> | typeof INVALID =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => typeof one === 'string')
      ? (value as Record<string, string>)
      : INVALID,
);
export const matching = (pattern: RegExp) =>
  reader({ type: 'string', pattern: pattern.source }, (value) =>
    typeof value === 'string' && pattern.test(value) ? value : INVALID,
  );
export const exactly = <T extends string>(...values: readonly T[]) =>
  reader({ enum: values }, (value): T | typeof INVALID => values.find((known) => known === value) ?? INVALID);
export const object = <F extends Fields>(fields: F) =>
  reader(objectSchema(fields), (value): Read<F> | typeof INVALID => read(fields, value) ?? INVALID);

/** Readers that replace missing or wrong values by safe ones, since the other side may be of another version. */
export const text = reader({ type: 'string' }, (value) => (typeof value === 'string' ? value : ''));
export const textOrNull = reader(orNull({ type: 'string' }), (value) =>
  typeof value === 'string' ? value : null,
);
const COUNT = { type: 'integer', minimum: 0 };
const countOf = (value: unknown): number => (typeof value === 'number' && value >= 0 ? Math.floor(value) : 0);
export const count = reader(COUNT, countOf);
/** A number that the other side has sent before. */
export const echoed = reader({ type: 'number' }, countOf);
export const numberOrNull = reader(orNull({ type: 'number' }), (value) =>
  typeof value === 'number' ? value : null,
);
export const positiveOrNull = reader(
  orNull({ type: 'integer', minimum: 1 }),
  (value) => countOf(value) || null,
);
export const isTrue = reader({ type: 'boolean' }, (value) => value === true);
export const isNotFalse = reader({ type: 'boolean' }, (value) => value !== false);
/** The first value stands for all unknown ones. */
export const oneOf = <T extends string>(...values: readonly [T, ...T[]]) =>
  reader({ enum: values }, (value): T => values.find((known) => known === value) ?? values[0]);
export const listOf = <F extends Fields>(fields: F) =>
  reader({ type: 'array', items: objectSchema(fields) }, (value): readonly Read<F>[] =>
    (Array.isArray(value) ? value : []).map((item) => read(fields, item)).filter((item) => item !== null),
  );
export const objectOrNull = <F extends Fields>(fields: F) =>
  reader(orNull(objectSchema(fields)), (value): Read<F> | null => read(fields, value));

function objectSchema(fields: Fields, type?: string): JsonSchema {
  const tag = type === undefined ? [] : [['type', { const: type }] as const];
  const others = Object.entries(fields).map(([name, { schema }]) => {
    const { optional, ...rest } = schema;
    return { name, rest, isRequired: optional === undefined };
  });
  const required = others.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    required: [...tag.map(([name]) => name), ...required],
    properties: Object.fromEntries([...tag, ...others.map(({ name, rest }) => [name, rest] as const)]),
  };
}

/** The JSON Schemas of a table's frames, by type. */
export const schemasOf = (table: Table): { readonly [type: string]: JsonSchema } =>
  Object.fromEntries(Object.entries(table).map(([type, fields]) => [type, objectSchema(fields, type)]));

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

/** The fields of a frame whose values are refused. */
export function invalidFields(fields: Fields, wire: object): readonly string[] {
  const values = wire as { readonly [name: string]: unknown };
  return Object.entries(fields)
    .filter(([name, reader]) => reader(values[name]) === INVALID)
    .map(([name]) => name);
}

/** Decodes JSON by a table. null for all but a known frame with valid fields. */
export function decode<T extends Table>(table: T, json: string): FrameIn<T> | null {
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
