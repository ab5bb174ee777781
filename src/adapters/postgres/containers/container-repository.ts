import { type Expression, type Selectable, sql } from 'kysely';
import { AGENT_NODE } from '../../../domain/containers/agents/agent.ts';
import type { Container, ContainerState } from '../../../domain/containers/container.ts';
import type { RoleSetup } from '../../../domain/containers/role-setup.ts';
import {
  type ContainerRepository,
  NameTaken,
  type NewContainer,
  type StateChange,
} from '../../../ports/containers/container-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import { compiledOnce, type Placeholders } from '../connection/compiled-once.ts';
import type { ContainersTable } from '../schema/container-tables.ts';
import type { Db } from '../schema/database-schema.ts';
import { resourceColumns, toResources } from '../shared-columns.ts';
import { allAs, firstAs, isAny } from '../sql.ts';
import { byRef, type RefValues, refValues } from './by-ref.ts';

type Joined = Selectable<ContainersTable> & {
  owner_username: string;
  layer_allowed_mb: number;
  active_at: Date | null;
  agent_platform: string | null;
  agent_seen_at: Date | null;
};

/** The columns that come from the owner, row `u`, and from other tables about the container, row `c`. */
export const ofOwner = [
  'u.username as owner_username',
  sql<number>`(select t.layer_mb from tiers t where t.name = u.tier)`.as('layer_allowed_mb'),
  sql<Date | null>`(select max(a.last_at) from container_activity a where a.db_id = c.db_id)`.as('active_at'),
  sql<string | null>`(select a.platform from agents a where a.db_id = c.db_id)`.as('agent_platform'),
  sql<Date | null>`(select a.last_seen_at from agents a where a.db_id = c.db_id)`.as('agent_seen_at'),
] as const;

/** Containers, deleted ones too, with what they have of their owners. */
export const containersWithOwner = (db: Db) =>
  db
    .selectFrom('containers as c')
    .innerJoin('users as u', 'u.id', 'c.owner_id')
    .selectAll('c')
    .select(ofOwner);

/** Live containers with their owners' names. */
export const liveContainers = (db: Db) => containersWithOwner(db).where('c.state', '<>', 'deleted');

export const postgresContainers = (db: Db): ContainerRepository => ({
  ...containerReads(db),
  ...containerChanges(db),
});

const containerReads = (
  db: Db,
): Pick<ContainerRepository, 'nameInUse' | 'findOwned' | 'listAllLive' | 'countLive' | 'findAny'> => ({
  nameInUse: (ownerId, name) =>
    liveContainers(db).where('c.owner_id', '=', ownerId).where('c.name', '=', name).$call(isAny),

  findOwned: (ref, ownerId) => ownedBy(db, { ...refValues(ref), ownerId }).$call(firstAs(toContainer)),

  async listAllLive() {
    const all: Container[] = [];
    for (;;) {
      const page = await livePage(db, all.at(-1)?.dbId ?? null);
      all.push(...page);
      if (page.length < PAGE_ROWS) return all;
    }
  },

  async countLive(ownerId) {
    const { rows } = await sql<{ count: number }>`
      select (
        (select count(*) from containers
          where owner_id = ${ownerId} and state <> 'deleted' and node <> ${AGENT_NODE}) +
        (select count(*) from operations where new_owner_id = ${ownerId} and finished_at is null)
      )::int as count`.execute(db);
    return rows[0]?.count ?? 0;
  },

  findAny: (dbId) => containersWithOwner(db).where('c.db_id', '=', dbId).$call(firstAs(toContainer)),
});

const ownedBy = compiledOnce(
  (db, { ownerId, ...ref }: Placeholders<RefValues & { readonly ownerId: string }>) =>
    byRef(liveContainers(db), ref).where('c.owner_id', '=', ownerId),
);

/** As many as one statement reads well within its time limit, on a busy machine too. */
export const PAGE_ROWS = 2_000;

/** By key, after this one: so each page costs the same, and what is made or removed meanwhile moves no other row. */
function livePage(db: Db, after: string | null): Promise<readonly Container[]> {
  const rows = liveContainers(db).where('c.node', '<>', AGENT_NODE).orderBy('c.db_id').limit(PAGE_ROWS);
  return (after === null ? rows : rows.where('c.db_id', '>', after)).$call(allAs(toContainer));
}

/** No change is in progress. */
const SETTLED = ['running', 'stopped', 'failed'] as const;

const containerChanges = (
  db: Db,
): Pick<ContainerRepository, 'insert' | 'changeState' | 'transfer' | 'touch'> => ({
  async insert(container) {
    const row = await db
      .with('c', (query) => query.insertInto('containers').values(toRow(container)).returningAll())
      .selectFrom('c')
      .innerJoin('users as u', 'u.id', 'c.owner_id')
      .selectAll('c')
      .select(ofOwner)
      .executeTakeFirstOrThrow()
      .catch(nameTaken);
    return toContainer(row);
  },

  async changeState(dbId, from, change) {
    const values = { dbId, from, ...toUpdate(change) };
    const row = await changeIn(db, values).executeTakeFirst().catch(nameTaken);
    return row === undefined ? null : toContainer(row);
  },

  async transfer(dbId, fromUserId, toUserId, name) {
    const row = await updateLocked(db, dbId)
      .where('u.id', '=', toUserId)
      .where('c.owner_id', '=', fromUserId)
      .where('c.state', 'in', SETTLED)
      .set({ owner_id: toUserId, name })
      .returningAll('c')
      .returning(ofOwner)
      .executeTakeFirst()
      .catch(nameTaken);
    if (row === undefined) return null;
    await transferProcesses(db, dbId, toUserId);
    return toContainer(row);
  },

  async touch(dbId) {
    const set = { last_used_at: sql<Date>`now()` };
    await db.updateTable('containers').set(set).where('db_id', '=', dbId).execute();
  },
});

type Change = ReturnType<typeof toUpdate> & {
  readonly dbId: string;
  readonly from: readonly ContainerState[];
};

/** undefined: unchanged. The last two choose columns. */
const toUpdate = ({ state, reason, started, resources, ...change }: StateChange) => ({
  state,
  state_reason: reason ?? null,
  runtime_id: change.runtimeId,
  node: change.node,
  name: change.name,
  generation: change.generation,
  ...(resources === undefined ? {} : resourceColumns(resources)),
  starts: started === true ? true : undefined,
  isDeleted: state === 'deleted' ? true : undefined,
});

const changeIn = compiledOnce((db, { dbId, from, starts, isDeleted, ...columns }: Placeholders<Change>) =>
  updateLocked(db, dbId)
    .whereRef('u.id', '=', 'c.owner_id')
    .set(columns)
    .set({
      ...(columns.runtime_id === undefined ? {} : { layer_used_mb: null }),
      ...(starts === undefined ? {} : { started_at: sql<Date>`now()`, last_used_at: sql<Date>`now()` }),
      ...(isDeleted === undefined ? { volume_condemned_at: null } : {}),
      deleted_at: isDeleted === undefined ? null : sql<Date>`now()`,
    })
    .where('c.state', '=', sql<ContainerState>`any(${from})`)
    .returningAll('c')
    .returning(ofOwner),
);

/** Locks the row first: an update gets its transaction number before it waits, and events follow these numbers. */
const updateLocked = (db: Db, dbId: string | Expression<string>) =>
  db
    .with('locked', (query) =>
      query.selectFrom('containers').select('db_id').where('db_id', '=', dbId).forNoKeyUpdate(),
    )
    .updateTable('containers as c')
    .from(['users as u', 'locked'])
    .whereRef('c.db_id', '=', 'locked.db_id');

async function transferProcesses(db: Db, dbId: string, toUserId: string): Promise<void> {
  await db.updateTable('processes').set({ user_id: toUserId }).where('db_id', '=', dbId).execute();
  await db
    .updateTable('process_outputs')
    .set({ owner_id: toUserId })
    .where('process_id', 'in', (eb) => eb.selectFrom('processes').select('id').where('db_id', '=', dbId))
    .execute();
}

function nameTaken(error: unknown): never {
  const { constraint } = error as { constraint?: string };
  throw constraint === 'containers_live_name' ? new NameTaken('name in use', { cause: error }) : error;
}

const containerColumns = toColumns('dbId ownerId name imageKey image shell role node volume');

const toRow = ({ resources, env, diskQuota, ...container }: NewContainer) => ({
  ...containerColumns(container),
  // undefined: the column's default
  disk_quota: diskQuota,
  ...resourceColumns(resources),
  env: JSON.stringify(env),
  state: 'creating' as const,
});

const containerFields = fromColumns(
  'dbId ownerId ownerUsername name imageKey image shell role env state stateReason generation runtimeId node',
  'volume diskQuota diskUsedMb layerUsedMb layerAllowedMb createdAt lastUsedAt startedAt deletedAt labels',
);

const lifetimeFields = fromColumns('endsAt idleSeconds onIdle keptUntil activeAt');

export const toContainer = (row: Joined): Container => ({
  ...containerFields(row),
  resources: toResources(row),
  // These columns are written together.
  roleSetup: {
    status: row.role_setup_status,
    id: row.role_setup_id,
    detail: row.role_setup_detail,
  } as RoleSetup,
  lifetime: { ...lifetimeFields(row), isEphemeral: row.ephemeral },
  ...(row.agent_platform === null || row.agent_seen_at === null
    ? {}
    : { agent: { platform: row.agent_platform, lastSeenAt: row.agent_seen_at } }),
});
