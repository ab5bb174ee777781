import { type Expression, sql } from 'kysely';
import {
  byPermission,
  COLLABORATION_MODES,
  type SharedAccess,
} from '../../../domain/terminals/collaboration.ts';
import type {
  PresentPerson,
  SharedContainer,
  SharedContainerRepository,
} from '../../../ports/terminals/shared-container-repository.ts';
import { compiledOnce, type Placeholders } from '../connection/compiled-once.ts';
import { byRef, type RefValues, refValues } from '../containers/by-ref.ts';
import { liveContainers, toContainer } from '../containers/container-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { isAny, run } from '../sql.ts';
import { isLive, mayOwn } from './collaboration-repository.ts';

type Mode = SharedAccess['mode'];
type Row = Awaited<ReturnType<ReturnType<typeof sharedContainers>['execute']>>[number];
type SharedRow = Row & { readonly collaboration_id: string; readonly mode: Mode };

const modes = sql`${[...COLLABORATION_MODES]}::text[]`;
/** Ordered by it, the most permissive of several shares of one container comes first. `k`: the share. */
const rank = sql<number>`array_position(${modes}, k.mode)`;

/** Queries for shared containers: who has access, who is present, and the owner's window size. */
export function postgresSharedContainers(db: Db): SharedContainerRepository {
  const live = () => db.selectFrom('collaborations as k').selectAll('k').where(isLive);

  return {
    async findFor(userId, ref) {
      const row = await sharedWith(db, { ...refValues(ref), userId }).executeTakeFirst();
      return row === undefined || !isShared(row) ? null : toShared(row);
    },

    async listVisible(userId) {
      const rows = await visibleTo(db, { userId }).execute();
      const own = rows.filter((row) => !isShared(row)).sort(byAge);
      const seen = new Set<string>();
      const shared = rows
        .filter(isShared)
        .sort(byPermission)
        .filter(({ db_id }) => !seen.has(db_id) && seen.add(db_id))
        .sort(byAge);
      return [...own.map((row) => ({ container: toContainer(row), access: null })), ...shared.map(toShared)];
    },

    isShared: (dbId) => live().where('k.db_id', '=', dbId).limit(1).$call(isAny),

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

const sharedContainers = (db: Db, userId: Expression<string>) =>
  liveContainers(db)
    .innerJoin('collaborations as k', 'k.db_id', 'c.db_id')
    .innerJoin('collaboration_participants as p', 'p.collaboration_id', 'k.id')
    .select([sql<string | null>`k.id`.as('collaboration_id'), sql<Mode | null>`k.mode`.as('mode')])
    .where('p.user_id', '=', userId)
    .where('p.left_at', 'is', null)
    .where(sql<boolean>`k.ended_at is null and k.expires_at > now() and ${mayOwn}`);

/** With the columns of `sharedContainers`. */
const ownContainers = (db: Db, userId: Expression<string>) =>
  liveContainers(db)
    .select([sql<string | null>`null::uuid`.as('collaboration_id'), sql<Mode | null>`null`.as('mode')])
    .where('c.owner_id', '=', userId);

const visibleTo = compiledOnce((db, { userId }: Placeholders<{ readonly userId: string }>) =>
  ownContainers(db, userId).unionAll(sharedContainers(db, userId)),
);

const sharedWith = compiledOnce(
  (db, { userId, ...ref }: Placeholders<RefValues & { readonly userId: string }>) =>
    byRef(sharedContainers(db, userId), ref).orderBy(rank),
);

async function presentIn(db: Db, dbId: string): Promise<readonly PresentPerson[]> {
  const { rows } = await sql<PresentPerson>`
    with taking_part as (
      select c.owner_id as user_id, true as owner, 'control' as mode from containers c
      where c.db_id = ${dbId}
      union all
      select p.user_id, false, (${modes})[min(${rank})]
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

const isShared = (row: Row): row is SharedRow => row.collaboration_id !== null;

const byAge = (a: Row, b: Row): number => b.created_at.getTime() - a.created_at.getTime();

const toShared = (row: SharedRow): SharedContainer => ({
  container: toContainer(row),
  access: { collaborationId: row.collaboration_id, mode: row.mode },
});
