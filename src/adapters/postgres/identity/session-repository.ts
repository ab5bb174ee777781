import { type Selectable, sql } from 'kysely';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import {
  REVOKED_LISTED_DAYS,
  SESSION_LIFE_DAYS,
  type UserSession,
} from '../../../domain/identity/session.ts';
import { DEFAULT_SETTINGS } from '../../../domain/settings.ts';
import type {
  NewSession,
  SessionRepository,
  SessionWithUser,
} from '../../../ports/identity/session-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import { compiledOnce, type Placeholders } from '../connection/compiled-once.ts';
import type { Db, UseLimitsRow } from '../schema/database-schema.ts';
import type { SessionsTable, UsersTable } from '../schema/identity-tables.ts';
import { toUseLimits } from '../shared-columns.ts';
import { allAs, changedOne, clockNow, fromJson, numberSetting, onlyAs, run, unnested } from '../sql.ts';
import { toUser } from './user-repository.ts';

const MAX_LISTED = 1_000;
/** Per user. Sessions are kept for about a month, and a device has a new address each day. */
const MAX_ADDRESSES = 1_000;

export const postgresSessions = (db: Db): SessionRepository => ({
  ...sessionReads(db),
  ...sessionChanges(db),
});

const sessionReads = (
  db: Db,
): Pick<SessionRepository, 'findWithUser' | 'findAllWithUser' | 'listOwned' | 'seenAt'> => ({
  findWithUser: async (id) => (await findAllWithUser(db, [id]))[0] ?? null,

  findAllWithUser: (ids) => findAllWithUser(db, ids),

  async listOwned(userId) {
    const since = sql<Date>`now() - make_interval(days => ${REVOKED_LISTED_DAYS})`;
    const rows = await db
      .selectFrom('sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .where((eb) =>
        eb.or([
          eb('revoked_at', '>', since),
          eb.and([eb('revoked_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]),
        ]),
      )
      .orderBy('created_at', 'desc')
      .limit(MAX_LISTED)
      .execute();
    const facts = await db
      .selectNoFrom([sql<Date>`now()`.as('now'), numberSetting(db, 'sessionIdleMinutes').as('idle_minutes')])
      .executeTakeFirstOrThrow();
    return {
      sessions: rows.map(toSession),
      now: facts.now,
      idleMinutes: facts.idle_minutes ?? DEFAULT_SETTINGS.sessionIdleMinutes,
    };
  },

  async seenAt(userId, ipAddress) {
    const group = addressGroup(ipAddress);
    const exact = await db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .where('ip_address', 'in', [ipAddress, group])
      .limit(1)
      .executeTakeFirst();
    if (exact !== undefined || !group.includes(':')) return exact !== undefined;
    // IPv6 groups have many spellings, so they are compared here. Each address is read once, by the index.
    const { rows } = await sql<{ ip: string }>`
      with recursive known (ip) as (
        select min(ip_address) from sessions where user_id = ${userId}
        union all
        select (select min(ip_address) from sessions where user_id = ${userId} and ip_address > known.ip)
        from known where known.ip is not null
      )
      select ip from known where ip like '%:%' limit ${MAX_ADDRESSES}
    `.execute(db);
    return rows.some(({ ip }) => addressGroup(ip) === group);
  },
});

/** The clock of a provider may be ahead. */
const signInTime = (at: NewSession['signedInAt']) =>
  at === null ? null : at === undefined ? sql<Date>`now()` : sql<Date>`least(${at}::timestamptz, now())`;

const sessionChanges = (
  db: Db,
): Pick<SessionRepository, 'insert' | 'touch' | 'confirm' | 'revoke' | 'revokeOthers'> => ({
  insert: ({ signedInAt, barredUntil, ...session }) =>
    db
      .insertInto('sessions')
      .values({
        ...sessionColumns(session),
        signed_in_at: signInTime(signedInAt),
        barred_until: barredUntil ?? null,
        expires_at: sql<Date>`now() + make_interval(days => ${SESSION_LIFE_DAYS})`,
      })
      .returningAll()
      .$call(onlyAs(toSession)),

  async touch(uses) {
    await sql`
      with locked as (
        select s.id, u.at from sessions s join ${unnested(uses)} on s.id = u.id
        where s.last_seen_at < u.at order by s.id for no key update of s
      )
      update sessions s set last_seen_at = locked.at from locked where s.id = locked.id
    `.execute(db);
  },

  confirm: (id) => db.updateTable('sessions').set({ confirmed_at: clockNow }).where('id', '=', id).$call(run),

  revoke: (id, userId, reason) =>
    db
      .updateTable('sessions')
      .set({ revoked_at: sql<Date>`now()`, revoked_reason: reason })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .$call(changedOne),

  async revokeOthers(userId, keepId, reason) {
    // Locked in the order in which uses are written, against deadlocks.
    const locked = db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .$if(keepId !== null, (query) => query.where('id', '<>', keepId))
      .orderBy('id')
      .forUpdate();
    return await db
      .with('locked', () => locked)
      .updateTable('sessions')
      .from('locked')
      .set({ revoked_at: sql<Date>`now()`, revoked_reason: reason })
      .whereRef('sessions.id', '=', 'locked.id')
      .returning('sessions.id')
      .$call(allAs(({ id }) => id));
  },
});

const withUser = compiledOnce((db, { ids }: Placeholders<{ readonly ids: readonly string[] }>) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('tiers as t', 't.name', 'u.tier')
    .select([
      sql<Selectable<SessionsTable>>`to_jsonb(s)`.as('session'),
      sql<Selectable<UsersTable>>`to_jsonb(u) - 'password_hash' - 'passcode_hash'`.as('user'),
      sql<Date>`now()`.as('now'),
      numberSetting(db, 'sessionIdleMinutes').as('idle_minutes'),
      numberSetting(db, 'requestsPerMinute').as('requests_per_minute'),
      sql<UseLimitsRow>`to_jsonb(t)`.as('tier'),
      's.locked_at',
      sql<boolean>`u.passcode_hash is not null`.as('passcode_set'),
      'u.auto_lock_minutes',
    ])
    .where('s.id', '=', sql<string>`any(${ids}::uuid[])`),
);

async function findAllWithUser(db: Db, ids: readonly string[]): Promise<readonly SessionWithUser[]> {
  const rows = await withUser(db, { ids }).execute();
  return rows.map((row) => ({
    session: toSession(fromJson(row.session)),
    user: toUser(fromJson(row.user)),
    now: row.now,
    idleMinutes: row.idle_minutes ?? DEFAULT_SETTINGS.sessionIdleMinutes,
    requestsPerMinute: row.requests_per_minute ?? DEFAULT_SETTINGS.requestsPerMinute,
    limits: toUseLimits(row.tier),
    lock: {
      lockedAt: row.locked_at,
      passcodeSet: row.passcode_set,
      autoLockMinutes: row.auto_lock_minutes,
    },
  }));
}

const sessionColumns = toColumns('userId ipAddress userAgent');

const toSession: (row: Selectable<SessionsTable>) => UserSession = fromColumns(
  'id userId createdAt lastSeenAt expiresAt ipAddress userAgent revokedAt revokedReason',
  'signedInAt confirmedAt barredUntil',
);
