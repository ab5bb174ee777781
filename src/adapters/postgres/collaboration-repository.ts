import { type Kysely, type Selectable, sql } from 'kysely';
import type { Collaboration } from '../../domain/collaboration.ts';
import type {
  CollaborationRepository,
  Part,
  PresentPerson,
  SharedContainer,
} from '../../ports/collaboration-repository.ts';
import { byRef, liveContainers, toContainer } from './container-repository.ts';
import type { Database } from './schema.ts';
import type { CollaborationsTable } from './terminal-tables.ts';

type Row = Selectable<CollaborationsTable>;
type Joined = Awaited<ReturnType<ReturnType<typeof sharedContainers>['execute']>>[number];

/** `u`: the owner. What they may not open themselves nobody opens by their leave. */
const mayOwn = sql<boolean>`u.disabled_at is null and (u.guest_until is null or u.guest_until > now())`;

const isLive = sql<boolean>`k.ended_at is null and k.expires_at > now()
  and exists (
    select from containers c join users u on u.id = c.owner_id
    where c.db_id = k.db_id and c.state <> 'deleted' and ${mayOwn})`;

export function postgresCollaborations(db: Kysely<Database>): CollaborationRepository {
  const all = () => db.selectFrom('collaborations as k').selectAll('k');

  async function withParticipants(rows: readonly Row[]): Promise<readonly Collaboration[]> {
    if (rows.length === 0) return [];
    const people = await db
      .selectFrom('collaboration_participants as p')
      .innerJoin('users as u', 'u.id', 'p.user_id')
      .select(['p.collaboration_id', 'p.user_id', 'u.username', 'p.joined_at'])
      .where('p.left_at', 'is', null)
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
        .filter((one) => one.collaboration_id === row.id)
        .map((one) => ({ userId: one.user_id, username: one.username, joinedAt: one.joined_at })),
    }));
  }
  const only = async (row: Row | undefined): Promise<Collaboration | null> =>
    row === undefined ? null : ((await withParticipants([row]))[0] ?? null);

  return {
    async insert({ id, containerId, ownerId, mode, codeHash, minutes }) {
      const expires_at = sql<Date>`now() + make_interval(mins => ${minutes})`;
      const row = await db
        .insertInto('collaborations')
        .values({ id, db_id: containerId, owner_id: ownerId, mode, code_hash: codeHash, expires_at })
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

    listLive: async (containerId, ownerId) =>
      withParticipants(
        await all()
          .where('k.db_id', '=', containerId)
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

    end: async (id) => setTime(db, id, 'ended_at'),
    settled: async (id) => setTime(db, id, 'settled_at'),

    async endAllOf(containerId) {
      const rows = await db
        .updateTable('collaborations')
        .set({ ended_at: sql<Date>`now()` })
        .where('db_id', '=', containerId)
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

    async findShared(ref, userId) {
      const row = await byRef(sharedContainers(db, userId), ref).executeTakeFirst();
      return row === undefined ? null : toShared(row);
    },

    async listShared(userId) {
      const rows = await sharedContainers(db, userId).execute();
      const seen = new Set<string>();
      const best = rows.filter(({ db_id }) => !seen.has(db_id) && seen.add(db_id));
      return best.sort((a, b) => b.created_at.getTime() - a.created_at.getTime()).map(toShared);
    },

    async stillTaken(parts) {
      if (parts.length === 0) return [];
      const rows = await db
        .selectFrom('collaborations as k')
        .innerJoin('collaboration_participants as p', 'p.collaboration_id', 'k.id')
        .select(['p.collaboration_id', 'p.user_id'])
        .where('k.id', 'in', [...new Set(parts.map(({ collaborationId }) => collaborationId))])
        .where('p.left_at', 'is', null)
        .where(isLive)
        .execute();
      return rows.map((row): Part => ({ collaborationId: row.collaboration_id, userId: row.user_id }));
    },

    async isShared(containerId) {
      const row = await all().where('k.db_id', '=', containerId).where(isLive).limit(1).executeTakeFirst();
      return row !== undefined;
    },

    async scene(containerId) {
      const first = await all()
        .where('k.db_id', '=', containerId)
        .where(isLive)
        .orderBy('k.created_at')
        .executeTakeFirst();
      if (first === undefined) return null;
      const { owner_cols: cols, owner_rows: rows } = first;
      const size = cols === null || rows === null ? null : { cols, rows };
      return { size, present: await presentIn(db, containerId) };
    },

    async noteSize(containerId, size) {
      await db
        .updateTable('collaborations as k')
        .set({ owner_cols: size?.cols ?? null, owner_rows: size?.rows ?? null })
        .where('k.db_id', '=', containerId)
        .where(isLive)
        .execute();
    },
  };
}

async function setTime(db: Kysely<Database>, id: string, column: 'ended_at' | 'settled_at'): Promise<void> {
  const set = { [column]: sql<Date>`now()` };
  await db.updateTable('collaborations').set(set).where('id', '=', id).execute();
}

/** Of several that share one container, the first gives the most. */
const sharedContainers = (db: Kysely<Database>, userId: string) =>
  liveContainers(db)
    .innerJoin('collaborations as k', 'k.db_id', 'c.db_id')
    .innerJoin('collaboration_participants as p', 'p.collaboration_id', 'k.id')
    .select(['k.id as collaboration_id', 'k.mode'])
    .where('p.user_id', '=', userId)
    .where('p.left_at', 'is', null)
    .where(sql<boolean>`k.ended_at is null and k.expires_at > now() and ${mayOwn}`)
    .orderBy('k.mode');

async function presentIn(db: Kysely<Database>, containerId: string): Promise<readonly PresentPerson[]> {
  const { rows } = await sql<PresentPerson>`
    with taking_part as (
      select c.owner_id as user_id, true as owner, 'control' as mode from containers c
      where c.db_id = ${containerId}
      union all
      select p.user_id, false, min(k.mode)
      from collaborations k join collaboration_participants p on p.collaboration_id = k.id
      where k.db_id = ${containerId} and p.left_at is null and ${isLive}
      group by p.user_id
    )
    select u.id as "userId", u.username, t.owner, t.mode
    from taking_part t join users u on u.id = t.user_id
    where exists (select from terminal_records r where r.container_id = ${containerId} and r.user_id = u.id)
    order by t.owner desc, u.username`.execute(db);
  return rows;
}

const toShared = (row: Joined): SharedContainer => ({
  container: toContainer(row),
  access: { collaborationId: row.collaboration_id, mode: row.mode },
});

const toCollaboration = (row: Row): Collaboration => ({
  id: row.id,
  containerId: row.db_id,
  ownerId: row.owner_id,
  mode: row.mode,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  endedAt: row.ended_at,
  participants: [],
});
