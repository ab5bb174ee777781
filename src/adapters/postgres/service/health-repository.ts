import { type Selectable, sql } from 'kysely';
import { FORGOTTEN_AFTER_SECONDS, type Outage, type ReplicaReport } from '../../../domain/service/health.ts';
import type { HealthRepository } from '../../../ports/service/health-repository.ts';
import { fromColumns } from '../columns.ts';
import { pageAs } from '../pagination.ts';
import type { Db } from '../schema/database-schema.ts';
import type { HealthOutagesTable, ReplicaReportsTable } from '../schema/service-tables.ts';
import { allAs, clockNow, onlyAs, run } from '../sql.ts';

/** Any number that no other lock of the database has. */
const LOCK = 0x6865_616c;

const isRecent = sql<boolean>`seen_at > clock_timestamp() - make_interval(secs => ${sql.lit(FORGOTTEN_AFTER_SECONDS)})`;

export const postgresHealth = (db: Db): HealthRepository => ({
  async lock() {
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(db);
  },
  ...replicaReports(db),
  ...outages(db),
});

const replicaReports = (db: Db): Pick<HealthRepository, 'reports' | 'report' | 'stopped'> => ({
  async reports() {
    const { now } = await db.selectNoFrom(clockNow.as('now')).executeTakeFirstOrThrow();
    const all = db.selectFrom('replica_reports').selectAll().orderBy('started_at');
    return { now, reports: await all.$call(allAs(toReport)) };
  },

  async report({ replica, startedAt, parts }) {
    await db.deleteFrom('replica_reports').where(sql<boolean>`not ${isRecent}`).execute();
    const values = {
      started_at: startedAt,
      seen_at: clockNow,
      stopped_at: null,
      parts: JSON.stringify(parts),
    };
    await db
      .insertInto('replica_reports')
      .values({ replica, ...values })
      .onConflict((conflict) => conflict.column('replica').doUpdateSet(values))
      .execute();
  },

  stopped: (replica) =>
    db
      .updateTable('replica_reports')
      .set({ seen_at: clockNow, stopped_at: clockNow })
      .where('replica', '=', replica)
      .$call(run),
});

const outages = (db: Db): Pick<HealthRepository, 'latest' | 'insert' | 'end' | 'page'> => ({
  latest: () =>
    db
      .selectFrom('health_outages')
      .selectAll()
      .distinctOn('component')
      .orderBy('component')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .$call(allAs(toOutage)),

  insert: ({ component, state, reason, detail, from, to }) =>
    db
      .insertInto('health_outages')
      .values({ component, state, reason, detail, created_at: from, ended_at: to })
      .returningAll()
      .$call(onlyAs(toOutage)),

  end: (id, at) =>
    db
      .updateTable('health_outages')
      // why: clocks of processes may differ by less than a short outage
      .set({ ended_at: sql<Date>`greatest(ended_at, created_at, ${at})` })
      .where('id', '=', id)
      .$call(run),

  page: (component, request) =>
    db
      .selectFrom('health_outages')
      .selectAll()
      .where((eb) => (component === null ? eb.lit(true) : eb('component', '=', component)))
      .$call(pageAs('health_outages', request, toOutage)),
});

const toReport: (row: Selectable<ReplicaReportsTable>) => ReplicaReport = fromColumns(
  'replica startedAt seenAt stoppedAt parts',
);

const outageFields = fromColumns('id component state reason detail');

const toOutage = (row: Selectable<HealthOutagesTable>): Outage => ({
  ...outageFields(row),
  from: row.created_at,
  to: row.ended_at,
});
