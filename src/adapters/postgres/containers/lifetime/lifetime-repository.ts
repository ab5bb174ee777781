import { sql } from 'kysely';
import { AGENT_NODE } from '../../../../domain/containers/agents/agent.ts';
import type {
  LifetimeChange,
  LifetimeRepository,
  LivingContainer,
} from '../../../../ports/containers/lifetime/lifetime-repository.ts';
import { fromColumns } from '../../columns.ts';
import { compiledOnce, type Placeholders } from '../../connection/compiled-once.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, changedOne, clockNow, firstAs, leaseEnd } from '../../sql.ts';
import { containersWithOwner, ofOwner, PAGE_ROWS, toContainer } from '../container-repository.ts';

export const postgresLifetimes = (db: Db): LifetimeRepository => ({
  ...lifetimeChanges(db),
  ...lifetimeEnds(db),
  ...containerUses(db),
});

const lifetimeChanges = (db: Db): Pick<LifetimeRepository, 'change' | 'limitToTier'> => ({
  async change(dbId, change) {
    const columns = toUpdate(change);
    // SQL has no UPDATE without columns.
    if (Object.keys(columns).length === 0)
      return await containersWithOwner(db).where('c.db_id', '=', dbId).$call(firstAs(toContainer));
    return await db
      .updateTable('containers as c')
      .from('users as u')
      .whereRef('u.id', '=', 'c.owner_id')
      .where('c.db_id', '=', dbId)
      .set(columns)
      .returningAll('c')
      .returning(ofOwner)
      .$call(firstAs(toContainer));
  },

  limitToTier: (dbId) => limitToTier(db, { dbId }).$call(firstAs(toContainer)),
});

const limitToTier = compiledOnce((db, { dbId }: Placeholders<{ readonly dbId: string }>) =>
  db
    .updateTable('containers as c')
    .from('users as u')
    .innerJoin('tiers as t', 't.name', 'u.tier')
    .whereRef('u.id', '=', 'c.owner_id')
    .where('c.db_id', '=', dbId)
    .where('c.node', '<>', AGENT_NODE)
    .where(sql<boolean>`(t.max_ttl_seconds > 0 or t.max_idle_seconds > 0)`)
    .set({
      ends_at: sql<Date | null>`case when t.max_ttl_seconds = 0 then c.ends_at else least(
        case when c.ends_at > clock_timestamp() then c.ends_at end,
        clock_timestamp() + make_interval(secs => t.max_ttl_seconds)) end`,
      kept_until: sql<Date | null>`case when t.max_ttl_seconds = 0 or c.kept_until is null then c.kept_until
        else least(c.kept_until, clock_timestamp() + make_interval(secs => t.max_ttl_seconds)) end`,
      idle_seconds: sql<number | null>`case when t.max_idle_seconds = 0 then c.idle_seconds
        else least(c.idle_seconds, t.max_idle_seconds) end`,
    })
    .returningAll('c')
    .returning(ofOwner),
);

const lifetimeEnds = (db: Db): Pick<LifetimeRepository, 'listEnding' | 'findForUpdate' | 'markWarned'> => ({
  async listEnding(withinSeconds) {
    const all: LivingContainer[] = [];
    for (;;) {
      const page = await endingPage(db, withinSeconds, all.at(-1)?.container.dbId ?? null);
      all.push(...page);
      if (page.length < PAGE_ROWS) return all;
    }
  },

  findForUpdate: (dbId) =>
    living(db).where('c.db_id', '=', dbId).forNoKeyUpdate('c').$call(firstAs(toLiving)),

  markWarned: (dbId, end, leadSeconds) =>
    db
      .updateTable('containers')
      .set({ warned_end: end, warned_lead: leadSeconds, warned_at: clockNow })
      .where('db_id', '=', dbId)
      .where('state', '<>', 'deleted')
      .where(
        sql<boolean>`(warned_end is null or abs(extract(epoch from warned_end - ${end}::timestamptz)) >= 1
          or warned_lead > ${leadSeconds})`,
      )
      .$call(changedOne),
});

/**
 * The same rule as `endOf` in lifetime-end.ts: a stopped container can only be deleted, and an end earlier than its start
 * no longer counts.
 */
const isEnding = (withinSeconds: number) => {
  const soon = sql<Date>`clock_timestamp() + make_interval(secs => ${withinSeconds})`;
  return sql<boolean>`
    (c.state = 'running' or (c.ephemeral and c.state in ('stopped', 'failed')))
    and (c.ends_at is not null or c.idle_seconds is not null)
    and least(
      case when c.ephemeral or c.ends_at > coalesce(c.started_at, c.created_at) then c.ends_at end,
      greatest(c.started_at, c.created_at, (select max(a.last_at) from container_activity a where a.db_id = c.db_id))
        + make_interval(secs => c.idle_seconds)
    ) <= ${soon}
    and (c.kept_until is null or c.kept_until <= ${soon})
    and not exists (select from operations o where o.db_id = c.db_id and o.finished_at is null)`;
};

/** By key, after this one. */
function endingPage(
  db: Db,
  withinSeconds: number,
  after: string | null,
): Promise<readonly LivingContainer[]> {
  const rows = living(db).where(isEnding(withinSeconds)).orderBy('c.db_id').limit(PAGE_ROWS);
  return (after === null ? rows : rows.where('c.db_id', '>', after)).$call(allAs(toLiving));
}

const containerUses = (db: Db): Pick<LifetimeRepository, 'noteUses' | 'activity'> => ({
  async noteUses(uses) {
    if (uses.length === 0) return;
    // Ordered, against deadlocks.
    const ordered = uses.toSorted((a, b) => (`${a.dbId}${a.kind}` < `${b.dbId}${b.kind}` ? -1 : 1));
    const [ids, kinds] = [ordered.map(({ dbId }) => dbId), ordered.map(({ kind }) => kind)];
    await sql`insert into container_activity (db_id, kind, last_at)
      select u.id, u.kind, clock_timestamp()
      from unnest(${ids}::uuid[], ${kinds}::text[]) as u (id, kind) join containers c on c.db_id = u.id
      where c.idle_seconds is not null
      group by u.id, u.kind
      order by u.id, u.kind
      on conflict (db_id, kind) do update set last_at = greatest(container_activity.last_at, excluded.last_at)`.execute(
      db,
    );
  },

  activity: (dbId) =>
    db
      .selectFrom('container_activity')
      .select(['kind', 'last_at'])
      .where('db_id', '=', dbId)
      .orderBy('last_at', 'desc')
      .$call(allAs(fromColumns('kind lastAt'))),
});

const living = (db: Db) => containersWithOwner(db).select(sql<Date>`clock_timestamp()`.as('now_at'));

type LivingRow = Parameters<typeof toContainer>[0] & { readonly now_at: Date };

const toLiving = (row: LivingRow): LivingContainer => ({
  container: toContainer(row),
  warned:
    row.warned_end === null || row.warned_lead === null || row.warned_at === null
      ? null
      : { end: row.warned_end, leadSeconds: row.warned_lead, at: row.warned_at },
  now: row.now_at,
});

/** undefined: unchanged */
const toUpdate = (change: LifetimeChange) => ({
  ...(change.labels === undefined ? {} : { labels: JSON.stringify(change.labels) }),
  ...(change.isEphemeral === undefined ? {} : { ephemeral: change.isEphemeral }),
  ...(change.ttlSeconds === undefined ? {} : { ends_at: fromNow(change.ttlSeconds) }),
  ...(change.idleSeconds === undefined ? {} : { idle_seconds: change.idleSeconds }),
  ...(change.onIdle === undefined ? {} : { on_idle: change.onIdle }),
  ...(change.keepSeconds === undefined ? {} : { kept_until: fromNow(change.keepSeconds) }),
});

const fromNow = (seconds: number | null) => (seconds === null ? null : leaseEnd(seconds));
