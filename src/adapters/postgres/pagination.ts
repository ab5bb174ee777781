import { sql } from 'kysely';
import { type Page, type PageRequest, UnknownPage } from '../../ports/pagination.ts';

/** Microseconds, which JavaScript's dates lack, and the id for rows of the same one. */
const PLACE = /^(\d{1,18})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

type Paged = 'users' | 'account_links' | 'audit_records' | 'recordings' | 'health_outages';

/** A row's position in a list ordered by `created_at` and `id`. */
export const position = (table: Paged) =>
  sql<string>`(extract(epoch from ${sql.ref(`${table}.created_at`)}) * 1000000)::bigint::text || '_' || ${sql.ref(`${table}.id`)}`;

/** Whether a row comes after that position; throws `UnknownPage` for an invalid one. */
export function isAfter(
  table: Paged,
  { after, oldestFirst = false }: Pick<PageRequest, 'after' | 'oldestFirst'>,
) {
  if (after === null) return sql<boolean>`true`;
  const [, micros, id] = PLACE.exec(Buffer.from(after, 'base64url').toString()) ?? [];
  if (micros === undefined || id === undefined) throw new UnknownPage('no such position in the list');
  const at = sql`timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`;
  const than = oldestFirst ? sql`>` : sql`<`;
  return sql<boolean>`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)}) ${than} (${at}, ${id}::uuid)`;
}

export const direction = ({ oldestFirst = false }: Pick<PageRequest, 'oldestFirst'>) =>
  oldestFirst ? 'asc' : 'desc';

/** `rows` has one more than `limit` when the list continues. */
export function toPage<Row extends { readonly position: string }, T>(
  rows: readonly Row[],
  limit: number,
  to: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const next = last === undefined ? null : Buffer.from(last.position).toString('base64url');
  return { items: shown.map(to), next };
}
