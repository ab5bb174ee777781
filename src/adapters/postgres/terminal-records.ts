import { type Kysely, type Selectable, sql } from 'kysely';
import type { NewTerminalRecord, TerminalRecord, TerminalRecords } from '../../ports/terminal-records.ts';
import type { Database, TerminalRecordsTable } from './schema.ts';

export const postgresTerminalRecords = (db: Kysely<Database>): TerminalRecords => ({
  async insert(record) {
    await db.insertInto('terminal_records').values(toRow(record)).execute();
  },

  async ping(records) {
    if (records.length === 0) return;
    const ordered = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await db
      .insertInto('terminal_records')
      .values(ordered.map(toRow))
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_ping_at: sql<Date>`now()` }))
      .execute();
  },

  async remove(id) {
    await db.deleteFrom('terminal_records').where('id', '=', id).execute();
  },

  async sweep(silentSeconds) {
    await db
      .deleteFrom('terminal_records')
      .where('last_ping_at', '<', sql<Date>`now() - make_interval(secs => ${silentSeconds})`)
      .execute();
  },

  async list() {
    const query = db.selectFrom('terminal_records').selectAll();
    return (await query.orderBy('created_at', 'desc').orderBy('id', 'desc').execute()).map(toRecord);
  },
});

const toRow = ({ id, userId, containerId }: NewTerminalRecord) => ({
  id,
  user_id: userId,
  container_id: containerId,
});

const toRecord = (row: Selectable<TerminalRecordsTable>): TerminalRecord => ({
  id: row.id,
  userId: row.user_id,
  containerId: row.container_id,
  createdAt: row.created_at,
  lastPingAt: row.last_ping_at,
});
