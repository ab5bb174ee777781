import { type Selectable, sql } from 'kysely';
import type { Collaboration } from '../../../domain/terminals/collaboration.ts';
import type { CollaborationRepository } from '../../../ports/terminals/collaboration-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import type { CollaborationsTable } from '../schema/terminal-tables.ts';
import { run } from '../sql.ts';
import { isLive, postgresShared } from './shared-terminal-queries.ts';

type Row = Selectable<CollaborationsTable>;

export const postgresCollaborations = (db: Db): CollaborationRepository => ({
  ...collaborationReads(db),
  ...collaborationChanges(db),
  ...participantChanges(db),
  ...endedReads(db),
  ...postgresShared(db),
});

const collaborationReads = (
  db: Db,
): Pick<CollaborationRepository, 'find' | 'findForUpdate' | 'findByCodeForUpdate' | 'listLive'> => ({
  find: async (id) => only(db, await all(db).where('k.id', '=', id).executeTakeFirst()),

  findForUpdate: async (id) => only(db, await all(db).where('k.id', '=', id).forUpdate().executeTakeFirst()),

  async findByCodeForUpdate(codeHash) {
    const coded = () => all(db).where('k.code_hash', '=', codeHash).where(isLive);
    const found = await coded().executeTakeFirst();
    if (found === undefined) return null;
    // The container before the share, in the order of a delete.
    await db
      .selectFrom('containers')
      .select('db_id')
      .where('db_id', '=', found.db_id)
      .forNoKeyUpdate()
      .execute();
    return only(db, await coded().forUpdate('k').executeTakeFirst());
  },

  listLive: async (dbId, ownerId) =>
    withParticipants(
      db,
      await all(db)
        .where('k.db_id', '=', dbId)
        .where('k.owner_id', '=', ownerId)
        .where(isLive)
        .orderBy('k.created_at', 'desc')
        .execute(),
    ),
});

const collaborationChanges = (
  db: Db,
): Pick<CollaborationRepository, 'insert' | 'end' | 'endAllOf' | 'markCleanedUp'> => ({
  async insert({ id, dbId, ownerId, mode, codeHash, minutes }) {
    const expires_at = sql<Date>`now() + make_interval(mins => ${minutes})`;
    const row = await db
      .insertInto('collaborations')
      .values({ id, db_id: dbId, owner_id: ownerId, mode, code_hash: codeHash, expires_at })
      .returningAll()
      .executeTakeFirstOrThrow();
    return toCollaboration(row);
  },

  end: async (id) => setTime(db, id, 'ended_at'),

  async endAllOf(dbId) {
    const rows = await db
      .updateTable('collaborations')
      .set({ ended_at: sql<Date>`now()` })
      .where('db_id', '=', dbId)
      .where('ended_at', 'is', null)
      .returningAll()
      .execute();
    return rows.map(toCollaboration);
  },

  markCleanedUp: async (id) => setTime(db, id, 'settled_at'),
});

const participantChanges = (db: Db): Pick<CollaborationRepository, 'admit' | 'dismiss' | 'putOut'> => ({
  admit: ({ collaborationId, userId }) =>
    db
      .insertInto('collaboration_participants')
      .values({ collaboration_id: collaborationId, user_id: userId })
      .onConflict((conflict) =>
        conflict
          .columns(['collaboration_id', 'user_id'])
          .doUpdateSet({
            left_at: null,
            joined_at: sql`excluded.joined_at`,
            joined_after: sql`excluded.joined_after`,
          })
          .where('collaboration_participants.left_at', 'is not', null),
      )
      .$call(run),

  dismiss: ({ collaborationId, userId }) =>
    db
      .updateTable('collaboration_participants')
      .set({ left_at: sql<Date>`now()` })
      .where('collaboration_id', '=', collaborationId)
      .where('user_id', '=', userId)
      .$call(run),

  putOut: ({ collaborationId, userId }) =>
    db
      .updateTable('collaboration_participants')
      .set({ left_at: sql<Date>`coalesce(left_at, now())`, removed_at: sql<Date>`now()` })
      .where('collaboration_id', '=', collaborationId)
      .where('user_id', '=', userId)
      .$call(run),
});

const endedReads = (db: Db): Pick<CollaborationRepository, 'overdue' | 'awaitingCleanUp' | 'leftovers'> => ({
  async overdue() {
    const rows = await db
      .selectFrom('collaborations as k')
      .select('k.id')
      .where('k.settled_at', 'is', null)
      .where('k.ended_at', 'is', null)
      .where(sql<boolean>`not (${isLive})`)
      .execute();
    return rows.map(({ id }) => id);
  },

  async awaitingCleanUp() {
    const rows = await db
      .selectFrom('collaborations')
      .select('id')
      .where('settled_at', 'is', null)
      .where('ended_at', 'is not', null)
      .execute();
    return rows.map(({ id }) => id);
  },

  async leftovers(id) {
    const { rows } = await sql<{ user_id: string }>`
        select p.user_id from collaboration_participants p
        join collaborations ended on ended.id = p.collaboration_id
        where p.collaboration_id = ${id} and not exists (
          select from collaborations k join collaboration_participants o on o.collaboration_id = k.id
          where k.db_id = ended.db_id and k.id <> ended.id and k.mode = 'control' and ${isLive}
            and o.user_id = p.user_id and o.left_at is null)`.execute(db);
    return rows.map(({ user_id }) => user_id);
  },
});

const all = (db: Db) => db.selectFrom('collaborations as k').selectAll('k');

async function withParticipants(db: Db, rows: readonly Row[]): Promise<readonly Collaboration[]> {
  if (rows.length === 0) return [];
  const people = await db
    .selectFrom('collaboration_participants as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .select(['p.collaboration_id', 'p.user_id', 'u.username', 'p.joined_at', 'p.removed_at'])
    .where((eb) => eb.or([eb('p.left_at', 'is', null), eb('p.removed_at', 'is not', null)]))
    .where(
      'p.collaboration_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('p.joined_at')
    .execute();
  return rows.map((row) => ({
    ...toCollaboration(row),
    participants: people
      .filter((one) => one.collaboration_id === row.id && one.removed_at === null)
      .map((one) => ({ userId: one.user_id, username: one.username, joinedAt: one.joined_at })),
    removed: people
      .filter((one) => one.collaboration_id === row.id && one.removed_at !== null)
      .map((one) => one.user_id),
  }));
}

const only = async (db: Db, row: Row | undefined): Promise<Collaboration | null> =>
  row === undefined ? null : ((await withParticipants(db, [row]))[0] ?? null);

async function setTime(db: Db, id: string, column: 'ended_at' | 'settled_at'): Promise<void> {
  const set = { [column]: sql<Date>`now()` };
  await db.updateTable('collaborations').set(set).where('id', '=', id).execute();
}

const toCollaboration = (row: Row): Collaboration => ({
  id: row.id,
  dbId: row.db_id,
  ownerId: row.owner_id,
  mode: row.mode,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  endedAt: row.ended_at,
  participants: [],
  removed: [],
});
