import { sql } from 'kysely';
import { AGENT_NODE } from '../../../domain/containers/agents/agent.ts';
import type {
  LiveState,
  NodeSums,
  StoredAmount,
  StoredSums,
} from '../../../domain/containers/capacity/capacity.ts';
import type { PersonUse } from '../../../domain/containers/capacity/person-use.ts';
import { toMb } from '../../../domain/containers/disk-quota.ts';
import { LEAST_BYTES } from '../../../domain/terminals/recording.ts';
import type {
  CapacityRepository,
  RunningOf,
} from '../../../ports/containers/capacity/capacity-repository.ts';
import { SILENT_SECONDS } from '../../../ports/terminals/terminal-record-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { sizeMb } from './snapshots/snapshot-repository.ts';

type StateRow = {
  readonly node: string;
  readonly state: LiveState;
  readonly count: number;
  readonly memory_mb: number;
  readonly cpu_millicores: number;
  readonly disk_mb: number;
};

const AT_REST: readonly LiveState[] = ['stopped', 'failed'];

/** Of table `containers`. */
const isLive = sql<boolean>`(state <> 'deleted')`;
const isKept = sql<boolean>`(state = 'deleted' and runtime_id is not null and volume_removed_at is null)`;
const diskMb = sql<number>`(coalesce(disk_used_mb, 0) + coalesce(layer_used_mb, 0))`;
/** Of table `snapshots`; one for a fork is in no list. */
const isListed = sql<boolean>`(deleted_at is null and fork_ids is null)`;
const castBytes = sql<number>`greatest(size_bytes, ${sql.lit(LEAST_BYTES)})`;

/** A sum as a number: the driver reads 64-bit integers as text. */
const total = (what: ReturnType<typeof sql>, where = sql`true`) =>
  sql<number>`coalesce(sum(${what}) filter (where ${where}), 0)::float8`;
const number = (where = sql`true`) => sql<number>`(count(*) filter (where ${where}))::int`;

export const postgresCapacity = (db: Db): CapacityRepository => ({
  async nodes() {
    const rows = await sql<StateRow>`
      select node, state, count(*)::int as count, ${total(sql`memory_mb`)} as memory_mb,
        ${total(sql`cpu_millicores`)} as cpu_millicores, ${total(sql`disk_mb`)} as disk_mb
      from containers where ${isLive} and node <> ${AGENT_NODE}
      group by node, state order by node`.execute(db);
    return [...Map.groupBy(rows.rows, ({ node }) => node)].map(toNode);
  },

  async stored() {
    const { rows } = await sql<StoredRow>`
      select * from
        (select ${number(isLive)} as volumes, ${total(diskMb, isLive)} as volumes_mb,
          ${number(isKept)} as kept, ${total(sql`disk_used_mb`, isKept)} as kept_mb
          from containers where node <> ${AGENT_NODE}) c,
        (select ${number(isListed)} as snapshots, ${total(sizeMb, sql`deleted_at is null`)} as snapshots_mb,
          ${number(sql`deleted_at is not null`)} as gone, ${total(sizeMb, sql`deleted_at is not null`)} as gone_mb
          from snapshots where purged_at is null and removed_at is null) s,
        (select count(*)::int as recordings, ${total(castBytes)} as bytes from recordings) r,
        (select ${number(sql`state = 'ready'`)} as ready, ${number(sql`state = 'making'`)} as making
          from warm_pool) w`.execute(db);
    const [row] = rows;
    if (row === undefined) throw new Error('sums without a row');
    return toStored(row);
  },

  async people() {
    const { rows } = await peopleSums.execute(db);
    return rows.map(toPersonUse);
  },

  async running() {
    const { rows } = await sql<RunningOf>`
      select runtime_id as "runtimeId", owner_id as "ownerId" from containers
      where state = 'running' and node <> ${AGENT_NODE} and runtime_id is not null`.execute(db);
    return rows;
  },
});

function toNode([node, rows]: readonly [string, readonly StateRow[]]): NodeSums {
  const sum = (of: readonly StateRow[]) => ({
    memoryMb: of.reduce((all, row) => all + row.memory_mb, 0),
    cpuMillicores: of.reduce((all, row) => all + row.cpu_millicores, 0),
    diskMb: of.reduce((all, row) => all + row.disk_mb, 0),
  });
  return {
    node,
    states: Object.fromEntries(rows.map(({ state, count }) => [state, count])),
    running: sum(rows.filter(({ state }) => !AT_REST.includes(state))),
    all: sum(rows),
  };
}

type StoredRow = {
  readonly volumes: number;
  readonly volumes_mb: number;
  readonly kept: number;
  readonly kept_mb: number;
  readonly snapshots: number;
  readonly snapshots_mb: number;
  readonly gone: number;
  readonly gone_mb: number;
  readonly recordings: number;
  readonly bytes: number;
  readonly ready: number;
  readonly making: number;
};

const amount = (count: number, usedMb: number): StoredAmount => ({ count, usedMb });

const toStored = (row: StoredRow): StoredSums => ({
  volumes: amount(row.volumes, row.volumes_mb),
  deletedContainers: amount(row.kept, row.kept_mb),
  snapshots: amount(row.snapshots, row.snapshots_mb),
  deletedSnapshots: amount(row.gone, row.gone_mb),
  recordings: amount(row.recordings, toMb(row.bytes)),
  warmPool: { ready: row.ready, making: row.making },
});

type PersonRow = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly tier: string;
  readonly max_containers: number;
  readonly containers: number | null;
  readonly running: number | null;
  readonly memory_mb: number | null;
  readonly cpu_millicores: number | null;
  readonly disk_mb: number | null;
  readonly used_mb: number | null;
  readonly kept: number | null;
  readonly kept_mb: number | null;
  readonly snapshots: number | null;
  readonly snapshots_mb: number | null;
  readonly gone: number | null;
  readonly gone_mb: number | null;
  readonly recordings: number | null;
  readonly bytes: number | null;
  readonly terminals: number | null;
  readonly tokens: number | null;
  readonly seen_at: Date | null;
};

/** Each table is read once, whatever the number of people. */
const peopleSums = sql<PersonRow>`
  select u.id, u.username, u.email, u.tier, t.max_containers, c.*, s.*, r.*, terminals, tokens,
    greatest(e.seen_at, k.used_at) as seen_at
  from users u join tiers t on t.name = u.tier
  left join (select owner_id, ${number(isLive)} as containers, ${number(sql`state = 'running'`)} as running,
      ${total(sql`memory_mb`, isLive)} as memory_mb, ${total(sql`cpu_millicores`, isLive)} as cpu_millicores,
      ${total(sql`disk_mb`, isLive)} as disk_mb, ${total(diskMb, isLive)} as used_mb,
      ${number(isKept)} as kept, ${total(sql`disk_used_mb`, isKept)} as kept_mb
    from containers where node <> ${AGENT_NODE} group by owner_id) c on c.owner_id = u.id
  left join (select owner_id as snapshots_of, ${number(isListed)} as snapshots,
      ${total(sizeMb, sql`deleted_at is null`)} as snapshots_mb,
      ${number(sql`deleted_at is not null`)} as gone, ${total(sizeMb, sql`deleted_at is not null`)} as gone_mb
    from snapshots where purged_at is null and removed_at is null group by owner_id) s on s.snapshots_of = u.id
  left join (select user_id as recordings_of, count(*)::int as recordings, ${total(castBytes)} as bytes
    from recordings group by user_id) r on r.recordings_of = u.id
  left join (select user_id, count(*)::int as terminals from terminal_records
    where last_ping_at >= now() - make_interval(secs => ${SILENT_SECONDS}) group by user_id) o on o.user_id = u.id
  left join (select user_id, max(last_used_at) as used_at,
      ${number(sql`revoked_at is null and (expires_at is null or expires_at > now())`)} as tokens
    from api_tokens group by user_id) k on k.user_id = u.id
  left join (select user_id, max(last_seen_at) as seen_at from sessions group by user_id) e on e.user_id = u.id
  where u.deleted_at is null order by u.username collate "C"`;

const toPersonUse = (row: PersonRow): PersonUse => ({
  userId: row.id,
  username: row.username,
  email: row.email,
  tier: row.tier,
  containers: row.containers ?? 0,
  running: row.running ?? 0,
  maxContainers: row.max_containers,
  limits: { memoryMb: row.memory_mb ?? 0, cpuMillicores: row.cpu_millicores ?? 0, diskMb: row.disk_mb ?? 0 },
  diskUsedMb: row.used_mb ?? 0,
  kept: (row.kept ?? 0) + (row.gone ?? 0),
  keptMb: (row.kept_mb ?? 0) + (row.gone_mb ?? 0),
  snapshots: row.snapshots ?? 0,
  snapshotMb: row.snapshots_mb ?? 0,
  recordings: row.recordings ?? 0,
  recordingBytes: row.bytes ?? 0,
  terminals: row.terminals ?? 0,
  tokens: row.tokens ?? 0,
  lastSeenAt: row.seen_at,
});
