import { type Selectable, sql } from 'kysely';
import type { Collaboration } from '../../../domain/terminals/collaboration.ts';
import type { CollaborationRepository } from '../../../ports/terminals/collaboration-repository.ts';
import { fromColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { CollaborationsTable } from '../schema/terminal-tables.ts';
import { allAs, onlyAs } from '../sql.ts';

type Row = Selectable<CollaborationsTable>;

/** `u`: the owner. An owner who may not open terminals cannot share them. */
export const mayOwn = sql<boolean>`u.disabled_at is null and (u.ends_at is null or u.ends_at > now())
  and (u.guest_until is null or u.guest_until > now())`;

/** `k`: the collaboration. */
export const isLive = sql<boolean>`k.ended_at is null and k.expires_at > now()
  and exists (
    select from containers c join users u on u.id = c.owner_id
    where c.db_id = k.db_id and c.state <> 'deleted' and ${mayOwn})`;

export const postgresCollaborations = (db: Db): CollaborationRepository => ({
  ...collaborationReads(db),
  ...collaborationChanges(db),
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

const collaborationChanges = (db: Db): Pick<CollaborationRepository, 'insert' | 'end' | 'endAllOf'> => ({
  async insert({ id, dbId, ownerId, mode, codeHash, minutes }) {
    const expires_at = sql<Date>`now() + make_interval(mins => ${minutes})`;
    return await db
      .insertInto('collaborations')
      .values({ id, db_id: dbId, owner_id: ownerId, mode, code_hash: codeHash, expires_at })
      .returningAll()
      .$call(onlyAs(toCollaboration));
  },

  async end(id) {
    const set = { ended_at: sql<Date>`now()` };
    await db.updateTable('collaborations').set(set).where('id', '=', id).execute();
  },

  endAllOf: (dbId) =>
    db
      .updateTable('collaborations')
      .set({ ended_at: sql<Date>`now()` })
      .where('db_id', '=', dbId)
      .where('ended_at', 'is', null)
      .returningAll()
      .$call(allAs(toCollaboration)),
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
      .map((one) => toParticipant(one)),
    removed: people
      .filter((one) => one.collaboration_id === row.id && one.removed_at !== null)
      .map((one) => one.user_id),
  }));
}

const only = async (db: Db, row: Row | undefined): Promise<Collaboration | null> =>
  row === undefined ? null : ((await withParticipants(db, [row]))[0] ?? null);

const collaborationFields = fromColumns('id dbId ownerId mode createdAt expiresAt endedAt');

const toCollaboration = (row: Row): Collaboration => ({
  ...collaborationFields(row),
  participants: [],
  removed: [],
});

const toParticipant = fromColumns('userId username joinedAt');
