import { type Kysely, type Selectable, sql } from 'kysely';
import type { Collaboration } from '../../../domain/terminals/collaboration.ts';
import type { CollaborationRepository } from '../../../ports/terminals/collaboration-repository.ts';
import type { Database } from '../schema/database-schema.ts';
import type { CollaborationsTable } from '../schema/terminal-tables.ts';
import { isLive } from './active-collaborations.ts';
import { postgresShared } from './shared-terminal-queries.ts';

type Row = Selectable<CollaborationsTable>;

export function postgresCollaborations(db: Kysely<Database>): CollaborationRepository {
  const all = () => db.selectFrom('collaborations as k').selectAll('k');

  async function withParticipants(rows: readonly Row[]): Promise<readonly Collaboration[]> {
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
  const only = async (row: Row | undefined): Promise<Collaboration | null> =>
    row === undefined ? null : ((await withParticipants([row]))[0] ?? null);

  return {
    async insert({ id, dbId, ownerId, mode, codeHash, minutes }) {
      const expires_at = sql<Date>`now() + make_interval(mins => ${minutes})`;
      const row = await db
        .insertInto('collaborations')
        .values({ id, db_id: dbId, owner_id: ownerId, mode, code_hash: codeHash, expires_at })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toCollaboration(row);
    },

    find: async (id) => only(await all().where('k.id', '=', id).executeTakeFirst()),

    hold: async (id) => only(await all().where('k.id', '=', id).forUpdate().executeTakeFirst()),

    async holdByCode(codeHash) {
      const coded = () => all().where('k.code_hash', '=', codeHash).where(isLive);
      const found = await coded().executeTakeFirst();
      if (found === undefined) return null;
      // The container before the share, as a delete holds them.
      await db
        .selectFrom('containers')
        .select('db_id')
        .where('db_id', '=', found.db_id)
        .forNoKeyUpdate()
        .execute();
      return only(await coded().forUpdate('k').executeTakeFirst());
    },

    listLive: async (dbId, ownerId) =>
      withParticipants(
        await all()
          .where('k.db_id', '=', dbId)
          .where('k.owner_id', '=', ownerId)
          .where(isLive)
          .orderBy('k.created_at', 'desc')
          .execute(),
      ),

    async admit({ collaborationId, userId }) {
      await db
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
        .execute();
    },

    async dismiss({ collaborationId, userId }) {
      await db
        .updateTable('collaboration_participants')
        .set({ left_at: sql<Date>`now()` })
        .where('collaboration_id', '=', collaborationId)
        .where('user_id', '=', userId)
        .execute();
    },

    async putOut({ collaborationId, userId }) {
      await db
        .updateTable('collaboration_participants')
        .set({ left_at: sql<Date>`coalesce(left_at, now())`, removed_at: sql<Date>`now()` })
        .where('collaboration_id', '=', collaborationId)
        .where('user_id', '=', userId)
        .execute();
    },

    end: async (id) => setTime(db, id, 'ended_at'),
    settled: async (id) => setTime(db, id, 'settled_at'),

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

    async unsettled() {
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

    ...postgresShared(db),
  };
}

async function setTime(db: Kysely<Database>, id: string, column: 'ended_at' | 'settled_at'): Promise<void> {
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
