import { type RawBuilder, sql } from 'kysely';
import {
  type EndedKind,
  type HistoryRepository,
  TOKENS_PER_SESSION,
} from '../../ports/history-repository.ts';
import type { Db } from './schema/database-schema.ts';

export const postgresHistory = (db: Db): HistoryRepository => ({
  async forget(kind, days, limit) {
    const before = sql<Date>`now() - make_interval(days => ${days})`;
    const some = sql`limit ${limit} for update skip locked`;
    let forgotten = 0;
    for (const statement of STATEMENTS[kind]) {
      const { numAffectedRows = 0n } = await statement(before, some, limit).execute(db);
      forgotten += Number(numAffectedRows);
    }
    return forgotten;
  },
});

type Statement = (before: RawBuilder<Date>, some: RawBuilder<unknown>, limit: number) => RawBuilder<unknown>;

/** For rows to which no others refer. `column`: when a row ended. */
const endedIn =
  (table: string, column: string): Statement =>
  (before, some) =>
    sql`
    delete from ${sql.table(table)} where id in (
      select id from ${sql.table(table)} where ${sql.ref(column)} < ${before} order by ${sql.ref(column)} ${some}
    )`;

const endedSessions: Statement = (before, some) => sql`
  select id from sessions where coalesce(revoked_at, expires_at) < ${before}
  order by coalesce(revoked_at, expires_at) ${some}`;

const refreshTokens: Statement = (before, some, limit) => sql`
  with ended as materialized (${endedSessions(before, some, limit)})
  delete from refresh_tokens where hash in (
    select hash from refresh_tokens where session_id in (select id from ended)
    limit ${limit * TOKENS_PER_SESSION}
  )`;

const sessions: Statement = (before, some, limit) => sql`
  with ended as materialized (${endedSessions(before, some, limit)})
  delete from sessions where id in (select id from ended)
    and not exists (select from refresh_tokens where session_id = sessions.id)`;

const shares: Statement = (before, some) => sql`
  with ended as materialized (
    select id from collaborations where least(ended_at, expires_at) < ${before}
    order by least(ended_at, expires_at) ${some}
  ), participants as (
    delete from collaboration_participants where collaboration_id in (select id from ended)
  )
  delete from collaborations where id in (select id from ended)`;

const containers: Statement = (before, some) => sql`
  with gone as materialized (
    select db_id from containers where state = 'deleted' and volume_removed_at < ${before}
    order by volume_removed_at ${some}
  ), participants as (
    delete from collaboration_participants where collaboration_id in (
      select id from collaborations where db_id in (select db_id from gone)
    )
  ), shares as (delete from collaborations where db_id in (select db_id from gone)),
  work as (delete from operations where db_id in (select db_id from gone)),
  images as (delete from carried_images where db_id in (select db_id from gone))
  delete from containers where db_id in (select db_id from gone)`;

const snapshots: Statement = (before, some) => sql`
  delete from snapshots where id in (
    select id from snapshots s where removed_at < ${before}
      and not exists (select from carried_images c where c.image = s.layer_image)
      and not exists (select from operations o where o.snapshot_id = s.id)
    order by removed_at ${some}
  )`;

const STATEMENTS: { readonly [K in EndedKind]: readonly Statement[] } = {
  operations: [endedIn('operations', 'finished_at')],
  sessions: [refreshTokens, sessions],
  shares: [shares],
  containers: [containers],
  snapshots: [snapshots],
  announcements: [endedIn('announcements', 'ends_at')],
  outages: [endedIn('health_outages', 'ended_at')],
};
