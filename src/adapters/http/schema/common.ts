import { type Static, type TSchema, Type } from '@sinclair/typebox';

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A body or query whose undocumented fields are refused. */
export const Closed = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** Items are looked at only while there are not too many: the validator would find a fault with each of a million. */
export const Few = <T extends TSchema>(items: T, limits: { minItems: number; maxItems: number }) =>
  Type.Unsafe<Static<T>[]>({
    type: 'array',
    ...limits,
    if: { type: 'array', maxItems: limits.maxItems },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: 'array', items },
  });

/** Values by name, looked at only while there are not too many. */
export const FewNamed = <T extends TSchema>(values: T, maxProperties: number) =>
  Type.Unsafe<Record<string, Static<T>>>({
    type: 'object',
    maxProperties,
    if: { type: 'object', maxProperties },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: 'object', additionalProperties: values },
  });

export const IdParams = Type.Object({ id: Type.String() });

/**
 * Text that a database can hold: no NUL, and no half of a surrogate pair, which would be stored and compared as another
 * character. The validator reads patterns with the `u` flag, so whole pairs do not match the range.
 */
export const Text = (options: { minLength?: number; maxLength: number }) =>
  Type.String({ ...options, pattern: '^[^\\u0000\\ud800-\\udfff]*$' });

/** As every refusal is answered; named where a status has a body of its own as well. */
export const RefusalBody = Type.Object({ error: Type.String(), code: Type.String() });
