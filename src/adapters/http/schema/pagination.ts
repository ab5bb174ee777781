import { Type } from '@sinclair/typebox';
import { Closed, Text } from './common.ts';

// Query values are text: 1 to 200 without leading zeros.
const LIMIT = '^([1-9][0-9]?|1[0-9]{2}|200)$';

const cursor = Type.Optional(
  Type.String({ pattern: '^[A-Za-z0-9_-]{1,2048}$', description: '`next_cursor` of the page before.' }),
);
const limit = (whenAbsent: string) =>
  Type.Optional(Type.String({ pattern: LIMIT, description: `1 to 200. Without it: ${whenAbsent}.` }));

/** One of the fields, or one with `-` in front for the reverse order. */
export const sortBy = <F extends string>(fields: readonly F[]) =>
  Type.Optional(
    Type.Union(
      fields.flatMap((field) => [Type.Literal(field), Type.Literal(`-${field}`)]),
      { description: 'The field to sort by; with `-`, in reverse.' },
    ),
  );

/** Of a long list, which the database pages. */
export const pageQuery = { cursor, limit: limit('50'), sort: sortBy(['created_at']) };

const filter = Type.Optional(Text({ maxLength: 200 }));

type Filters<F extends string> = { readonly [N in F]: typeof filter };

/** Of a list that the service reads whole: its fields to sort by, and those that an answer may be limited to. */
export const listQuery = <S extends string, F extends string = never>(
  sorts: readonly S[],
  filters: readonly F[] = [],
) =>
  Closed({
    cursor,
    limit: limit('the whole list, and no `next_cursor`'),
    sort: sortBy(sorts),
    ...(Object.fromEntries(filters.map((name) => [name, filter])) as Filters<F>),
  });

/** Present with a `limit` or `cursor`; null at the end. */
export const nextCursor = Type.Optional(Type.Union([Type.String(), Type.Null()]));
