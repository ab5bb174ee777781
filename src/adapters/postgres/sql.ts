import { type Expression, sql } from 'kysely';
import type { Settings } from '../../domain/settings.ts';
import type { Use } from '../../ports/identity/session-repository.ts';
import type { Db } from './schema/database-schema.ts';

/** The database's clock, which advances within a transaction, unlike `now()`. */
export const clockNow = sql<Date>`clock_timestamp()`;

/** The end of a lease taken now. */
export const leaseEnd = (seconds: number | Expression<number>) =>
  sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`;

/** A row read by to_jsonb, which writes times as text: their columns end in `_at` or `_until`. */
export function fromJson<T extends object>(row: T): T {
  const entries = Object.entries(row).map(([key, value]) =>
    typeof value === 'string' && /(_at|_until)$/.test(key) ? [key, new Date(value)] : [key, value],
  );
  return Object.fromEntries(entries) as T;
}

/** A pattern for this text, with its special characters escaped. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** A setting as part of another query; null where it was never changed. */
export const numberSetting = (db: Db, key: keyof Settings) =>
  db.selectFrom('settings').select(sql<number>`value::int`.as('number')).where('key', '=', key);

/** Uses as a table `u (id, at)`, so that one statement writes them all; ordered, against deadlocks. */
export const unnested = (uses: readonly Use[]) => {
  const ordered = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = ordered.map((use) => use.id);
  const times = ordered.map((use) => use.at);
  return sql`unnest(${ids}::uuid[], ${times}::timestamptz[]) as u (id, at)`;
};

/** For `$call`: the first row through `read`; null when there is none. */
export const firstAs =
  <Row, T>(read: (row: Row) => T) =>
  async (query: { executeTakeFirst(): Promise<Row | undefined> }): Promise<T | null> => {
    const row = await query.executeTakeFirst();
    return row === undefined ? null : read(row);
  };

/** For `$call`: the only row through `read`. */
export const onlyAs =
  <Row, T>(read: (row: Row) => T) =>
  async (query: { executeTakeFirstOrThrow(): Promise<Row> }): Promise<T> =>
    read(await query.executeTakeFirstOrThrow());

/** For `$call`: every row through `read`. */
export const allAs =
  <Row, T>(read: (row: Row) => T) =>
  async (query: { execute(): Promise<readonly Row[]> }): Promise<T[]> =>
    (await query.execute()).map((row) => read(row));

/** For `$call`: what `read` takes of every row, each once. */
export const setOf =
  <Row, T>(read: (row: Row) => T) =>
  async (query: { execute(): Promise<readonly Row[]> }): Promise<Set<T>> =>
    new Set(await allAs(read)(query));

/** For `$call`: whether there is a row. */
export const isAny = async (query: { executeTakeFirst(): Promise<unknown> }): Promise<boolean> =>
  (await query.executeTakeFirst()) !== undefined;

/** For `$call`: executes the statement. */
export async function run(query: { execute(): Promise<unknown> }): Promise<void> {
  await query.execute();
}

type Changed = {
  numInsertedOrUpdatedRows?: bigint | undefined;
  numUpdatedRows?: bigint;
  numDeletedRows?: bigint;
};

/** For `$call`: whether the statement changed a row. */
export async function changedOne(query: { executeTakeFirst(): Promise<Changed> }): Promise<boolean> {
  const { numInsertedOrUpdatedRows, numUpdatedRows, numDeletedRows } = await query.executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? numUpdatedRows ?? numDeletedRows) === 1n;
}

export const COUNT = sql<number>`count(*)::int`.as('count');

/** For `$call`, with `COUNT` selected. */
export const countOf = onlyAs(({ count }: { count: number }) => count);
