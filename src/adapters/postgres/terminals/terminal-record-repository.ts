import { type Selectable, sql } from 'kysely';
import { AGENT_AWAY_SECONDS, AGENT_NODE } from '../../../domain/containers/agents/agent.ts';
import type { ContainerState } from '../../../domain/containers/container.ts';
import type { TerminalKey } from '../../../domain/terminals/terminal.ts';
import {
  type NewTerminalRecord,
  SILENT_SECONDS,
  type TerminalRecord,
  type TerminalRecordRepository,
} from '../../../ports/terminals/terminal-record-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import { compiledOnce, type Placeholders } from '../connection/compiled-once.ts';
import type { Db } from '../schema/database-schema.ts';
import type { TerminalRecordsTable } from '../schema/terminal-tables.ts';
import { allAs, firstAs, run } from '../sql.ts';

const NOW = sql<Date>`date_trunc('milliseconds', clock_timestamp())`;
const OLDEST = sql<Date>`now() - make_interval(secs => ${SILENT_SECONDS})`;

/** Of container `c`: the terminals of a lost agent wait for it. */
const STATE_FOR_TERMINALS = sql<ContainerState>`case
  when c.node = ${AGENT_NODE} and exists (
    select from agents a where a.db_id = c.db_id and a.state = 'away'
      and a.last_seen_at > now() - make_interval(secs => ${AGENT_AWAY_SECONDS})
  ) then 'running' else c.state end`;

export const postgresTerminalRecords = (db: Db): TerminalRecordRepository => ({
  ...terminalReads(db),
  ...terminalChanges(db),
});

const terminalReads = (
  db: Db,
): Pick<TerminalRecordRepository, 'list' | 'find' | 'newest' | 'containerStatuses'> => ({
  async list() {
    const rows = await db
      .selectFrom('terminal_records as t')
      .innerJoin('users as u', 'u.id', 't.user_id')
      .innerJoin('containers as c', 'c.db_id', 't.container_id')
      .selectAll('t')
      .select(['u.username', 'c.name as container_name'])
      .where('t.last_ping_at', '>=', OLDEST)
      .orderBy('t.created_at', 'desc')
      .orderBy('t.id', 'desc')
      .execute();
    return rows.map((row) => ({
      ...toRecord(row),
      username: row.username,
      containerName: row.container_name,
    }));
  },

  async find(id) {
    const query = db.selectFrom('terminal_records').selectAll().where('id', '=', id);
    return await query.where('last_ping_at', '>=', OLDEST).$call(firstAs(toRecord));
  },

  async newest(keys) {
    if (keys.length === 0) return [];
    return await db
      .selectFrom('terminal_records')
      .selectAll()
      .distinctOn('terminal_key')
      .where('terminal_key', '=', sql<string>`any(${keys}::text[])`)
      .where('last_ping_at', '>=', OLDEST)
      .orderBy('terminal_key')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .$call(allAs(toRecord));
  },

  async containerStatuses(dbIds) {
    if (dbIds.length === 0) return [];
    const rows = await db
      .selectFrom('containers as c')
      .leftJoin('operations as o', (join) =>
        join.onRef('o.db_id', '=', 'c.db_id').on('o.finished_at', 'is', null),
      )
      .select(['c.db_id', 'c.runtime_id', 'o.kind as operation', STATE_FOR_TERMINALS.as('state')])
      .where('c.db_id', '=', sql<string>`any(${dbIds}::uuid[])`)
      .execute();
    return rows.map(fromColumns('dbId state runtimeId operation'));
  },
});

const terminalChanges = (
  db: Db,
): Pick<TerminalRecordRepository, 'insert' | 'ping' | 'resize' | 'remove' | 'removeAllOf' | 'sweep'> => ({
  async insert(record) {
    return (await insertOne(db, toRow(record)).executeTakeFirstOrThrow()).created_at;
  },

  async ping(records) {
    if (records.length === 0) return;
    const rows = ordered(records).map((record) => ({ ...toRow(record), created_at: record.createdAt }));
    await db
      .insertInto('terminal_records')
      .values(rows)
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_ping_at: sql<Date>`now()` }))
      .execute();
  },

  async resize(sizes) {
    if (sizes.length === 0) return;
    const rows = ordered(sizes);
    const [ids, cols, heights] = [rows.map(({ id }) => id), rows.map((r) => r.cols), rows.map((r) => r.rows)];
    const given = sql<{ id: string; cols: number; rows: number }>`
      unnest(${ids}::uuid[], ${cols}::int[], ${heights}::int[])`;
    await db
      .updateTable('terminal_records')
      .from(given.as<'size'>(sql`size (id, cols, rows)`))
      .set({ cols: sql`size.cols`, rows: sql`size.rows` })
      .whereRef('terminal_records.id', '=', 'size.id')
      .execute();
  },

  async remove(ids) {
    if (ids.length === 0) return;
    const isMeant = sql<string>`any(${ids}::uuid[])`;
    const inOrder = db.selectFrom('terminal_records').select('id').where('id', '=', isMeant).orderBy('id');
    await db.deleteFrom('terminal_records').where('id', 'in', inOrder.forUpdate()).execute();
  },

  removeAllOf: (replica) => db.deleteFrom('terminal_records').where('replica', '=', replica).$call(run),

  sweep: () => db.deleteFrom('terminal_records').where('last_ping_at', '<', OLDEST).$call(run),
});

/** In one order, against deadlocks. */
const ordered = <T extends { readonly id: string }>(records: readonly T[]): T[] =>
  records.toSorted((a, b) => (a.id < b.id ? -1 : 1));

const recordColumns = toColumns('id userId connectionId muxSession owner cols rows client ipAddress replica');

const toRow = ({ key, dbId, ...record }: NewTerminalRecord) => ({
  ...recordColumns(record),
  terminal_key: key,
  container_id: dbId,
});

const insertOne = compiledOnce((db, row: Placeholders<ReturnType<typeof toRow>>) =>
  db
    .insertInto('terminal_records')
    .values({ ...row, created_at: NOW })
    .returning('created_at'),
);

const recordFields = fromColumns(
  'id userId connectionId muxSession owner cols rows client ipAddress replica createdAt lastPingAt',
);

const toRecord = (row: Selectable<TerminalRecordsTable>): TerminalRecord => ({
  ...recordFields(row),
  key: row.terminal_key as TerminalKey,
  dbId: row.container_id,
});
