import { type ExpressionBuilder, type Insertable, type SqlBool, sql } from 'kysely';
import { EVENTS_KEPT_HOURS, EVENTS_SWEPT_HOURS, type EventType } from '../../domain/events.ts';
import type { EventLog, EventRange, StoredEvent } from '../../ports/event-log.ts';
import { fromColumns } from './columns.ts';
import { compiledOnce, type Placeholders } from './connection/compiled-once.ts';
import type { Database, Db } from './schema/database-schema.ts';
import { isAny, run } from './sql.ts';

/**
 * Transaction and row: once a transaction is over, nothing earlier in this order can be committed. The database accepts
 * no longer numbers.
 */
const POSITION = /^([0-9]{1,19})-([0-9]{1,18})$/;
const START = '0-0';

/**
 * Who may see an event: the owner, and users with whom the container was shared both then and now. A delete ends that.
 */
const sharers = sql`select p.user_id from collaborations k
  join collaboration_participants p on p.collaboration_id = k.id
  where k.db_id = e.db_id and k.expires_at > now() and p.left_at is null and p.joined_after < e.position
    and (k.ended_at is null or (e.type = 'container_deleted' and k.ended_at >= e.created_at))`;
const administrators = sql`select id from users where role = 'admin' and disabled_at is null and deleted_at is null`;
/** null for everybody. */
const audience = sql<string[] | null>`case e.audience
  when 'everybody' then null
  when 'administrators' then array(${administrators})
  else array(select e.owner_id union ${sharers}) end`;

const forAdministrators = sql<boolean>`e.audience is not distinct from 'administrators'`;

/** This transaction and all earlier ones are over. */
const settled = sql<boolean>`e.xid < pg_snapshot_xmin(pg_current_snapshot())`;
const id = sql<string>`e.xid || '-' || e.position`;

const hoursAgo = (hours: number) => sql<Date>`now() - make_interval(hours => ${sql.lit(hours)})`;

/**
 * Whether `e` and the event after it are older; null where no event comes after it. Readers that have read all of a quiet
 * day continue from the last one.
 */
const areOlder = (hours: number) => sql<SqlBool>`(e.created_at < ${hoursAgo(hours)} and (
  select next.created_at < ${hoursAgo(hours)} from events next
  where (next.xid, next.position) > (e.xid, e.position) order by next.xid, next.position limit 1))`;

/** Transaction numbers from the future are of another server, from which these rows were restored. */
const mayBeSwept = (where: ExpressionBuilder<Database & { e: Database['events'] }, 'e'>) =>
  where.or([areOlder(EVENTS_SWEPT_HOURS), sql<SqlBool>`e.xid >= pg_snapshot_xmax(pg_current_snapshot())`]);

export function postgresEvents(db: Db): EventLog {
  return {
    append: ({ type, dbId, ownerId, audience = null, data }) =>
      insertOne(db, {
        type,
        db_id: dbId,
        owner_id: ownerId,
        audience,
        data: JSON.stringify(data),
      }).$call(run),

    async end() {
      const last = await db
        .selectFrom('events as e')
        .select(id.as('id'))
        .where(settled)
        .orderBy('e.xid', 'desc')
        .orderBy('e.position', 'desc')
        .limit(1)
        .executeTakeFirst();
      return last?.id ?? START;
    },

    after: (position, limit) => eventsAfter(db, position, limit),

    async seenBy(userId, range, limit) {
      const { rows } = await seenBy(userId, range, limit).execute(db);
      return rows.map(toEvent);
    },

    async keepsSince(position) {
      if (!POSITION.test(position)) return false;
      return await db
        .selectFrom('events as e')
        .select('e.position')
        .where(comes('=', position))
        .where(settled)
        .where(sql<SqlBool>`${areOlder(EVENTS_KEPT_HOURS)} is not true`)
        .$call(isAny);
    },

    sweep: () => db.deleteFrom('events as e').where(mayBeSwept).$call(run),
  };
}

const insertOne = compiledOnce((db, row: Placeholders<Insertable<Database['events']>>) =>
  db.insertInto('events').values(row),
);

type From = ReturnType<typeof numbersOf> & { readonly atMost: number };

const eventsFrom = compiledOnce((db, { atMost, ...position }: Placeholders<From>) =>
  db
    .selectFrom('events as e')
    .select([id.as('id'), 'e.type', 'e.db_id', 'e.data', 'e.created_at'])
    .select([audience.as('audience'), forAdministrators.as('for_administrators')])
    .select(settled.as('settled'))
    .where(comesAt('>=', position))
    .orderBy('e.xid')
    .orderBy('e.position')
    .limit(atMost),
);

/** The event at `position` is read too: without it, the server may have lost the last events. */
async function eventsAfter(db: Db, position: string, limit: number): ReturnType<EventLog['after']> {
  const rows = await eventsFrom(db, { ...numbersOf(position), atMost: limit + 1 }).execute();
  const isHere = rows[0]?.id === position;
  const later = isHere ? rows.slice(1) : rows.slice(0, limit);
  const ready = later.filter((row) => row.settled);
  return {
    events: ready.map(toEvent),
    waiting: ready.length < later.length,
    isGone: !isHere && position !== START,
  };
}

/**
 * Reads the user's own containers by index, then each container that is or was shared with the user: the first `limit`
 * of each suffice. Long-ended shares have no visible events. The service's own events have an index of their own.
 */
const seenBy = (userId: string, { after, upTo }: EventRange, limit: number) => {
  const inOrder = sql`${comes('>', after)} and ${comes('<=', upTo)} order by e.xid, e.position limit ${limit}`;
  return sql<Row>`
    select ${id} as id, e.type, e.db_id, e.data, e.created_at, ${audience} as audience,
      ${forAdministrators} as for_administrators from (
      (select e.* from events e where e.owner_id = ${userId} and ${inOrder})
      union all
      (select e.* from (
         select distinct k.db_id from collaboration_participants p
         join collaborations k on k.id = p.collaboration_id
         where p.user_id = ${userId} and p.left_at is null and k.expires_at > now()
           and (k.ended_at is null or k.ended_at > ${hoursAgo(EVENTS_SWEPT_HOURS)})
       ) shared cross join lateral (
         select e.* from events e
         where e.db_id = shared.db_id and e.owner_id <> ${userId} and ${userId}::uuid in (${sharers}) and ${inOrder}
       ) e)
      union all
      (select e.* from events e where e.audience is not null
         and (e.audience = 'everybody' or ${userId}::uuid in (${administrators})) and ${inOrder})
      order by xid, position limit ${limit}
    ) e order by e.xid, e.position`;
};

type How = '>' | '>=' | '<=' | '=';
const comes = (how: How, position: string) => comesAt(how, numbersOf(position));

const comesAt = (how: How, { xid, row }: Readonly<Record<'xid' | 'row', unknown>>) =>
  sql<SqlBool>`(e.xid, e.position) ${sql.raw(how)} (${xid}::xid8, ${row}::bigint)`;

function numbersOf(position: string) {
  const [, xid = '0', row = '0'] = POSITION.exec(position) ?? [];
  return { xid, row };
}

type Row = {
  readonly id: string;
  readonly type: string;
  readonly db_id: string;
  readonly data: Record<string, unknown>;
  readonly created_at: Date;
  readonly audience: string[] | null;
  readonly for_administrators: boolean;
};

const eventFields = fromColumns('id dbId data');

const toEvent = (row: Row): StoredEvent => ({
  ...eventFields(row),
  type: row.type as EventType,
  time: row.created_at,
  audience: row.audience ?? 'everybody',
  isForAdministrators: row.for_administrators,
});
