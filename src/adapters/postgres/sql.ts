import { sql } from 'kysely';
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Use } from '../../ports/identity/session-repository.ts';
import type { Db, UseLimitsRow } from './schema/database-schema.ts';

/** By the clock of the database, also within a transaction, for which `now()` stands still. */
export const clockNow = sql<Date>`clock_timestamp()`;

/** When a lease runs out that is taken now. */
export const leaseEnd = (seconds: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`;

/** A row read by to_jsonb, which writes times as text: every column that holds one ends in `_at` or `_until`. */
export function fromJson<T extends object>(row: T): T {
  const entries = Object.entries(row).map(([key, value]) =>
    typeof value === 'string' && /(_at|_until)$/.test(key) ? [key, new Date(value)] : [key, value],
  );
  return Object.fromEntries(entries) as T;
}

/** A setting as part of another query; null where it was never changed. */
export const numberSetting = (db: Db, key: keyof Settings) =>
  db.selectFrom('settings').select(sql<number>`value::int`.as('number')).where('key', '=', key);

/** Uses as a table `u (id, at)`, so that one statement writes them all; in one order, so that two do not block. */
export const unnested = (uses: readonly Use[]) => {
  const ordered = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = ordered.map((use) => use.id);
  const times = ordered.map((use) => use.at);
  return sql`unnest(${ids}::uuid[], ${times}::timestamptz[]) as u (id, at)`;
};

/** The part of a tier that limits what its users do. */
export const toUseLimits = (row: UseLimitsRow): UseLimits => ({
  requestsPerMinute: row.requests_per_minute,
  maxTerminals: row.max_terminals,
  maxEventSockets: row.max_event_sockets,
  maxCommands: row.max_commands,
  maxUploads: row.max_uploads,
  maxDownloads: row.max_downloads,
});

/** For `$call`: the first row as `read` reads it; null when there is none. */
export const firstAs =
  <Row, T>(read: (row: Row) => T) =>
  async (query: { executeTakeFirst(): Promise<Row | undefined> }): Promise<T | null> => {
    const row = await query.executeTakeFirst();
    return row === undefined ? null : read(row);
  };

/** For `$call`: the one row as `read` reads it. */
export const onlyAs =
  <Row, T>(read: (row: Row) => T) =>
  async (query: { executeTakeFirstOrThrow(): Promise<Row> }): Promise<T> =>
    read(await query.executeTakeFirstOrThrow());

/** For `$call`: every row as `read` reads it. */
export const allAs =
  <Row, T>(read: (row: Row) => T) =>
  async (query: { execute(): Promise<readonly Row[]> }): Promise<T[]> =>
    (await query.execute()).map((row) => read(row));

/** For `$call`: carries the statement out. */
export async function run(query: { execute(): Promise<unknown> }): Promise<void> {
  await query.execute();
}

type Changed = {
  numInsertedOrUpdatedRows?: bigint | undefined;
  numUpdatedRows?: bigint;
  numDeletedRows?: bigint;
};

/** For `$call`: whether the statement has changed one row. */
export async function changedOne(query: { executeTakeFirst(): Promise<Changed> }): Promise<boolean> {
  const { numInsertedOrUpdatedRows, numUpdatedRows, numDeletedRows } = await query.executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? numUpdatedRows ?? numDeletedRows) === 1n;
}

export const COUNT = sql<number>`count(*)::int`.as('count');

/** For `$call`, where `COUNT` is selected. */
export const countOf = onlyAs(({ count }: { count: number }) => count);
