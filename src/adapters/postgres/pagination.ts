import { type SelectQueryBuilder, sql } from 'kysely';
import { type Page, type PageRequest, UnknownPage } from '../../ports/pagination.ts';

/** Microseconds, which JavaScript's dates lack, and the id for rows of the same one. */
const PLACE = /^(\d{1,18})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

type Paged = 'users' | 'account_links' | 'audit_records' | 'recordings' | 'health_outages';

/** A row's position in a list ordered by `created_at` and `id`. */
const position = (table: Paged) =>
  sql<string>`(extract(epoch from ${sql.ref(`${table}.created_at`)}) * 1000000)::bigint::text || '_' || ${sql.ref(`${table}.id`)}`;

/** Whether a row comes after that position; throws `UnknownPage` for an invalid one. */
function isAfter(table: Paged, { after, oldestFirst = false }: Pick<PageRequest, 'after' | 'oldestFirst'>) {
  if (after === null) return sql<boolean>`true`;
  const [, micros, id] = PLACE.exec(Buffer.from(after, 'base64url').toString()) ?? [];
  if (micros === undefined || id === undefined) throw new UnknownPage('no such position in the list');
  const at = sql`timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`;
  const than = oldestFirst ? sql`>` : sql`<`;
  return sql<boolean>`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)}) ${than} (${at}, ${id}::uuid)`;
}

/** For `$call`: the page of the table's rows, ordered by `created_at` and `id`, each through `read`. */
export const pageAs =
  <Row, T>(table: Paged, request: PageRequest, read: (row: Row) => T) =>
  async <DB, TB extends keyof DB, O extends Row>(query: SelectQueryBuilder<DB, TB, O>): Promise<Page<T>> => {
    const direction = request.oldestFirst === true ? 'asc' : 'desc';
    const rows = await query
      .select(position(table).as('position'))
      .where(isAfter(table, request))
      .orderBy(sql.ref(`${table}.created_at`), direction)
      .orderBy(sql.ref(`${table}.id`), direction)
      .limit(request.limit + 1)
      .execute();
    return toPage(rows as (O & { readonly position: string })[], request.limit, read);
  };

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
