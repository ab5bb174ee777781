import { type Selectable, sql } from 'kysely';
import type { TerminalLeaseRepository } from '../../../ports/terminals/terminal-lease-repository.ts';
import { fromColumns } from '../columns.ts';
import { compiledOnce, type Placeholders } from '../connection/compiled-once.ts';
import type { Db } from '../schema/database-schema.ts';
import type { TerminalLeasesTable } from '../schema/terminal-tables.ts';
import { allAs, run } from '../sql.ts';

/** A forgotten run has been silent for longer than any query asks. */
const FORGOTTEN_SECONDS = 3_600;

/** This commit does not wait for the disk. The commit of the terminal's record, later in the same log, does. */
const withoutSync = sql<string>`set_config('synchronous_commit', 'off', true)`.as('synchronous_commit');

export const postgresTerminalLeases = (db: Db): TerminalLeaseRepository => ({
  ...leaseChanges(db),
  ...leaseReads(db),
});

const leaseChanges = (db: Db): Pick<TerminalLeaseRepository, 'put' | 'markEnding' | 'remove' | 'renew'> => ({
  async put({ streamId, dbId, runtimeId, muxSession, replica, runId }) {
    const row = { stream: streamId, container_id: dbId, runtime_id: runtimeId, mux_session: muxSession };
    return (await putOne(db, { ...row, replica, run: runId }).executeTakeFirst())?.isOnly === true;
  },

  markEnding: (streamId) =>
    db.updateTable('terminal_holds').set({ is_ending: true }).where('stream', '=', streamId).$call(run),

  async remove(streamIds) {
    if (streamIds.length === 0) return;
    const isOne = sql<string>`any(${streamIds}::uuid[])`;
    await db.deleteFrom('terminal_holds').where('stream', '=', isOne).execute();
  },

  async renew(runId) {
    const seen = { seen_at: sql<Date>`now()` };
    await db
      .insertInto('replica_runs')
      .values({ run: runId, ...seen })
      .onConflict((conflict) => conflict.column('run').doUpdateSet(seen))
      .execute();
    const oldest = sql<Date>`now() - make_interval(secs => ${FORGOTTEN_SECONDS})`;
    await db.deleteFrom('replica_runs').where('seen_at', '<', oldest).execute();
  },
});

const putOne = compiledOnce((db, row: Placeholders<Omit<Selectable<TerminalLeasesTable>, 'is_ending'>>) =>
  db
    .insertInto('terminal_holds')
    .values(row)
    .returning(
      sql<boolean>`not exists (select from terminal_holds other where other.container_id = ${row.container_id}
        and other.runtime_id = ${row.runtime_id} and other.mux_session = ${row.mux_session})`.as('isOnly'),
    )
    .returning(withoutSync),
);

const leaseFields = fromColumns('runtimeId muxSession replica isEnding');

const leaseReads = (db: Db): Pick<TerminalLeaseRepository, 'liveRuns' | 'inContainer' | 'unattended'> => ({
  async liveRuns(silentSeconds) {
    const oldest = sql<Date>`now() - make_interval(secs => ${silentSeconds})`;
    return await db
      .selectFrom('replica_runs')
      .select('run')
      .where('seen_at', '>=', oldest)
      .$call(allAs((row) => row.run));
  },

  async inContainer(dbId) {
    const rows = await db
      .selectFrom('terminal_holds as h')
      .leftJoin('replica_runs as r', 'r.run', 'h.run')
      .select(['h.stream', 'h.runtime_id', 'h.mux_session', 'h.replica', 'h.run', 'h.is_ending'])
      .select(sql<number | null>`extract(epoch from now() - r.seen_at)::float8`.as('silent'))
      .where('h.container_id', '=', dbId)
      .execute();
    return rows.map((row) => ({
      ...leaseFields(row),
      streamId: row.stream,
      runId: row.run,
      silentSeconds: row.silent ?? Number.POSITIVE_INFINITY,
    }));
  },

  async unattended({ replica, runId, streamIds }, silentSeconds) {
    const oldest = sql<Date>`now() - make_interval(secs => ${silentSeconds})`;
    return await db
      .selectFrom('terminal_holds as h')
      .leftJoin('replica_runs as r', 'r.run', 'h.run')
      .select('h.container_id')
      .distinct()
      .where((is) =>
        is.or([
          is.and([is('h.run', '=', runId), is('h.stream', '<>', sql<string>`all(${streamIds}::uuid[])`)]),
          is.and([is('h.run', '<>', runId), is('h.replica', '=', replica)]),
          is.and([
            is('h.run', '<>', runId),
            is.or([is('r.seen_at', 'is', null), is('r.seen_at', '<', oldest)]),
          ]),
        ]),
      )
      .$call(allAs((row) => row.container_id));
  },
});
