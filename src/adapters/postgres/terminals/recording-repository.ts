import { type Selectable, sql } from 'kysely';
import { LEAST_BYTES, type Recording } from '../../../domain/terminals/recording.ts';
import type { RecordingRepository } from '../../../ports/terminals/recording-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import { pageAs } from '../pagination.ts';
import type { Db } from '../schema/database-schema.ts';
import type { RecordingsTable } from '../schema/terminal-tables.ts';
import { allAs, changedOne, clockNow, firstAs, onlyAs, setOf } from '../sql.ts';

export const postgresRecordings = (db: Db): RecordingRepository => ({
  ...recordingReads(db),
  ...recordingChanges(db),
});

const recordingReads = (
  db: Db,
): Pick<RecordingRepository, 'find' | 'page' | 'usedBytes' | 'activeIn' | 'silent' | 'known'> => ({
  async find(id, userId) {
    const query = db.selectFrom('recordings').selectAll().where('id', '=', id).where('user_id', '=', userId);
    return await query.$call(firstAs(toRecording));
  },

  page: (userId, dbIds, request) =>
    db
      .selectFrom('recordings')
      .selectAll()
      .where('user_id', '=', userId)
      .$if(dbIds !== null, (query) => query.where('container_id', 'in', [...(dbIds ?? [])]))
      .$call(pageAs('recordings', request, toRecording)),

  async usedBytes(userId) {
    const { used } = await db
      .selectFrom('recordings')
      .select(sql<string>`coalesce(sum(greatest(size_bytes, ${sql.lit(LEAST_BYTES)})), 0)::bigint`.as('used'))
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return Number(used);
  },

  async activeIn(dbId) {
    const query = db.selectFrom('recordings').selectAll().where('container_id', '=', dbId);
    return await query.where('state', '=', 'recording').$call(allAs(toRecording));
  },

  silent: (forSeconds, replica) =>
    db
      .selectFrom('recordings')
      .selectAll()
      .where('state', '=', 'recording')
      .where('seen_at', '<=', sql<Date>`clock_timestamp() - make_interval(secs => ${forSeconds})`)
      .$if(replica !== null, (query) => query.where('replica', '=', replica ?? ''))
      .$call(allAs(toRecording)),

  async known(ids) {
    if (ids.length === 0) return new Set();
    return await db
      .selectFrom('recordings')
      .select('id')
      .where('id', 'in', ids)
      .$call(setOf(({ id }) => id));
  },
});

const recordingChanges = (db: Db): Pick<RecordingRepository, 'insert' | 'progress' | 'end' | 'remove'> => ({
  insert: ({ dbId, ...recording }) =>
    db
      .insertInto('recordings')
      .values({ ...recordingColumns(recording), container_id: dbId })
      .returningAll()
      .$call(onlyAs(toRecording)),

  async progress(id, userId, { sizeBytes, durationMs }) {
    const values = { size_bytes: sizeBytes, duration_ms: durationMs, seen_at: clockNow };
    return await going(db, id, userId).set(values).$call(changedOne);
  },

  end: (id, userId, { state, sizeBytes, durationMs }) =>
    going(db, id, userId)
      .set({ state, size_bytes: sizeBytes, duration_ms: durationMs, ended_at: clockNow })
      .returningAll()
      .$call(firstAs(toRecording)),

  async remove(id, userId) {
    const query = db.deleteFrom('recordings').where('id', '=', id).where('user_id', '=', userId);
    return await query.returningAll().$call(firstAs(toRecording));
  },
});

const going = (db: Db, id: string, userId: string) =>
  db
    .updateTable('recordings')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('state', '=', 'recording');

const recordingFields = fromColumns('id userId containerName connectionId cols rows state replica endedAt');

const toRecording = (row: Selectable<RecordingsTable>): Recording => ({
  ...recordingFields(row),
  dbId: row.container_id,
  sizeBytes: Number(row.size_bytes),
  durationMs: Number(row.duration_ms),
  startedAt: row.created_at,
});

const recordingColumns = toColumns('id userId containerName connectionId cols rows replica');
