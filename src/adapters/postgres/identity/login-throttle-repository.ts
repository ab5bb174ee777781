import { sql } from 'kysely';
import { FORGET_AFTER_MS, type Tally } from '../../../domain/identity/login-throttle.ts';
import type { LoginThrottleRepository, Tallies } from '../../../ports/identity/login-throttle-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { clockNow, run } from '../sql.ts';

const SWEEP_AT_MOST = 100;

type Row = { readonly key: Buffer; readonly count: number; readonly at: Date; readonly now: Date };

export function postgresThrottle(db: Db): LoginThrottleRepository {
  const rows = (keys: readonly Buffer[]) =>
    db.selectFrom('failures').select(['key', 'count', 'at']).where('key', 'in', keys);
  const now = async (): Promise<Date> => {
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
    return rows[0]?.now ?? new Date();
  };

  return {
    async read(keys) {
      const found = await rows(keys).select(clockNow.as('now')).execute();
      return inOrder(keys, found, found[0]?.now ?? new Date());
    },

    async lock(keys) {
      // Locks in one order, against deadlocks. A missing row cannot be locked, so an empty one is inserted first. One
      // statement does both: a row deleted during the wait is made again and locked, so that waiting calls still run in
      // turn.
      const sorted = keys.toSorted(Buffer.compare);
      await db
        .insertInto('failures')
        .values(sorted.map((key) => ({ key, count: 0, at: clockNow })))
        .onConflict((conflict) =>
          conflict
            .column('key')
            .doUpdateSet({ count: (eb) => eb.ref('failures.count') })
            .where(sql<boolean>`false`),
        )
        .execute();
      const found = await rows(keys).execute();
      // Read after waiting for the locks, since the query may have started long before.
      return inOrder(keys, found, await now());
    },

    async put(tallies) {
      await sweep(db);
      await db
        .insertInto('failures')
        .values(tallies.map(({ key, tally }) => ({ key, count: tally.count, at: tally.at })))
        .onConflict((conflict) =>
          conflict.column('key').doUpdateSet({
            count: (eb) => eb.ref('excluded.count'),
            at: (eb) => eb.ref('excluded.at'),
          }),
        )
        .execute();
    },

    forget: (keys) => db.deleteFrom('failures').where('key', 'in', keys).$call(run),
  };
}

/** Removes forgotten rows, a few with each failure. */
const sweep = (db: Db) =>
  db
    .deleteFrom('failures')
    .where('key', 'in', (eb) =>
      eb
        .selectFrom('failures')
        .select('key')
        .where('at', '<', sql<Date>`now() - make_interval(secs => ${FORGET_AFTER_MS / 1000})`)
        .limit(SWEEP_AT_MOST)
        .forUpdate()
        .skipLocked(),
    )
    .execute();

function inOrder(keys: readonly Buffer[], rows: readonly Omit<Row, 'now'>[], now: Date): Tallies {
  const tallies = keys.map((key): Tally | null => {
    const row = rows.find((one) => one.key.equals(key));
    return row === undefined || row.count === 0 ? null : { count: row.count, at: row.at };
  });
  return { tallies, now };
}
