import { type TSchema, Type } from '@sinclair/typebox';

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A body or query whose undocumented fields are refused. */
export const Closed = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

export const IdParams = Type.Object({ id: Type.String() });

/** Text that Postgres and a log can hold: no NUL, no lone surrogates (the `u` flag of the validator sees to those). */
export const Text = (options: { minLength?: number; maxLength: number }) =>
  Type.String({ ...options, pattern: '^[^\\u0000]*$' });
