import {
  type ObjectOptions,
  type SchemaOptions,
  type Static,
  type TLiteral,
  type TProperties,
  type TSchema,
  type TUnion,
  Type,
} from '@sinclair/typebox';

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

/** A time in a request; its zone is checked by `timesOf`. */
export const Time = Type.String({ maxLength: 40, description: 'ISO 8601 with a time zone' });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** One of these words. */
export const OneOf = <const W extends readonly string[]>(words: W, options: SchemaOptions = {}) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    options,
  ) as unknown as TUnion<{
    -readonly [K in keyof W]: TLiteral<W[K]>;
  }>;

/** A query's `true` or `false`. */
export const Flag = (options: SchemaOptions = {}) => Type.Optional(OneOf(['true', 'false'], options));

/** Gives a schema the name that it has in the API document, where it is described once. */
export const Named = <T extends TSchema>(title: string, schema: T): T => ({ ...schema, title });

/** A body or query that refuses undocumented fields. */
export const Closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** An object with a name of its own in the API document. */
export const NamedObject = <P extends TProperties>(
  title: string,
  properties: P,
  options: ObjectOptions = {},
) => Named(title, Type.Object(properties, options));

/** A body with a name of its own, that refuses undocumented fields. */
export const NamedClosed = <P extends TProperties>(title: string, properties: P) =>
  Named(title, Closed(properties));

/** Ids of containers in a query. */
export const DbIds = Type.String({
  pattern: '^[0-9a-f-]{36}(,[0-9a-f-]{36}){0,99}$',
  description: 'Up to 100 `db_id`s, with commas.',
});

/** Validates items only while there are few: the validator would report a fault for each of a million. */
export const Few = <T extends TSchema>(items: T, limits: { minItems: number; maxItems: number }) =>
  Type.Unsafe<Static<T>[]>({
    type: 'array',
    ...limits,
    if: { type: 'array', maxItems: limits.maxItems },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: 'array', items },
  });

/** Named values, validated only while there are few. */
export const FewNamed = <T extends TSchema>(values: T, maxProperties: number) =>
  Type.Unsafe<Record<string, Static<T>>>({
    type: 'object',
    maxProperties,
    if: { type: 'object', maxProperties },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: 'object', additionalProperties: values },
  });

export const IdParams = Type.Object({ id: Type.String() });
export const ContainerParams = Type.Object({
  id: Type.String({
    description:
      'The runtime id, its first 12 digits or more, or the `db_id`; of an agent, `agent:` and its id, too.',
  }),
});

/**
 * Text that a database can hold: no NUL and no unpaired surrogate, which would be stored as another character. The
 * validator reads patterns with the `u` flag, so pairs do not match the range.
 */
export const Text = (options: { minLength?: number; maxLength: number }) =>
  Type.String({ ...options, pattern: '^[^\\u0000\\ud800-\\udfff]*$' });

/** The form of all refusals; declared where a status also has another body. */
export const RefusalBody = Named(
  'Error',
  Type.Object({
    error: Type.String({ description: 'For people.' }),
    code: Type.String({ description: 'For programs.' }),
    fields: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: Type.String(), description: 'The faults of a request, by field.' },
      ),
    ),
  }),
);
