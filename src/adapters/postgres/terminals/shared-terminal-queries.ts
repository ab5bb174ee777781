import { sql } from 'kysely';
import type {
  CollaborationRepository,
  Participation,
  PresentPerson,
  SharedContainer,
} from '../../../ports/terminals/collaboration-repository.ts';
import { byRef, liveContainers, toContainer } from '../containers/container-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { run } from '../sql.ts';

/** `u`: the owner. An owner who may not open terminals cannot share them. */
const mayOwn = sql<boolean>`u.disabled_at is null and (u.guest_until is null or u.guest_until > now())`;

/** `k`: the collaboration. */
export const isLive = sql<boolean>`k.ended_at is null and k.expires_at > now()
  and exists (
    select from containers c join users u on u.id = c.owner_id
    where c.db_id = k.db_id and c.state <> 'deleted' and ${mayOwn})`;

type Joined = Awaited<ReturnType<ReturnType<typeof sharedContainers>['execute']>>[number];

type Shared = Pick<
  CollaborationRepository,
  'findShared' | 'listShared' | 'stillActive' | 'isShared' | 'scene' | 'noteSize'
>;

/** Queries for shared containers: who has access, who is present, and the owner's window size. */
export function postgresShared(db: Db): Shared {
  const live = () => db.selectFrom('collaborations as k').selectAll('k').where(isLive);

  return {
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

    async stillActive(participations) {
      if (participations.length === 0) return [];
      const rows = await db
        .selectFrom('collaborations as k')
        .innerJoin('collaboration_participants as p', 'p.collaboration_id', 'k.id')
        .select(['p.collaboration_id', 'p.user_id'])
        .where('k.id', 'in', [...new Set(participations.map(({ collaborationId }) => collaborationId))])
        .where('p.left_at', 'is', null)
        .where(isLive)
        .execute();
      return rows.map(
        (row): Participation => ({ collaborationId: row.collaboration_id, userId: row.user_id }),
      );
    },

    async isShared(dbId) {
      const row = await live().where('k.db_id', '=', dbId).limit(1).executeTakeFirst();
      return row !== undefined;
    },

    async scene(dbId) {
      const first = await live().where('k.db_id', '=', dbId).orderBy('k.created_at').executeTakeFirst();
      if (first === undefined) return null;
      const { owner_cols: cols, owner_rows: rows } = first;
      const size = cols === null || rows === null ? null : { cols, rows };
      return { size, present: await presentIn(db, dbId) };
    },

    noteSize: (dbId, size) =>
      db
        .updateTable('collaborations as k')
        .set({ owner_cols: size?.cols ?? null, owner_rows: size?.rows ?? null })
        .where('k.db_id', '=', dbId)
        .where(isLive)
        .$call(run),
  };
}

/** Of several shares of one container, the first is the most permissive. */
const sharedContainers = (db: Db, userId: string) =>
  liveContainers(db)
    .innerJoin('collaborations as k', 'k.db_id', 'c.db_id')
    .innerJoin('collaboration_participants as p', 'p.collaboration_id', 'k.id')
    .select(['k.id as collaboration_id', 'k.mode'])
    .where('p.user_id', '=', userId)
    .where('p.left_at', 'is', null)
    .where(sql<boolean>`k.ended_at is null and k.expires_at > now() and ${mayOwn}`)
    .orderBy('k.mode');

async function presentIn(db: Db, dbId: string): Promise<readonly PresentPerson[]> {
  const { rows } = await sql<PresentPerson>`
    with taking_part as (
      select c.owner_id as user_id, true as owner, 'control' as mode from containers c
      where c.db_id = ${dbId}
      union all
      select p.user_id, false, min(k.mode)
      from collaborations k join collaboration_participants p on p.collaboration_id = k.id
      where k.db_id = ${dbId} and p.left_at is null and ${isLive}
      group by p.user_id
    )
    select u.id as "userId", u.username, t.owner, t.mode
    from taking_part t join users u on u.id = t.user_id
    where exists (select from terminal_records r where r.container_id = ${dbId} and r.user_id = u.id)
    order by t.owner desc, u.username`.execute(db);
  return rows;
}

const toShared = (row: Joined): SharedContainer => ({
  container: toContainer(row),
  access: { collaborationId: row.collaboration_id, mode: row.mode },
});
