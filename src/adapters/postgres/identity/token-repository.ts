import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { ApiToken } from '../../../domain/identity/token.ts';
import { DEFAULT_SETTINGS } from '../../../domain/settings.ts';
import type { TokenRepository, TokenWithUser } from '../../../ports/identity/token-repository.ts';
import type { Db, UseLimitsRow } from '../schema/database-schema.ts';
import type { ApiTokensTable, UsersTable } from '../schema/identity-tables.ts';
import { allAs, firstAs, fromJson, toUseLimits, unnested } from '../sql.ts';
import { toUser } from './user-repository.ts';

const SHOWN = [
  'id',
  'user_id',
  'name',
  'prefix',
  'scopes',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const;

export const postgresTokens = (db: Db): TokenRepository => ({
  async insert({ userId, name, hash, prefix, scopes, lifeMs }) {
    const expiresAt = sql<Date>`now() + make_interval(secs => ${lifeMs === null ? null : lifeMs / 1000})`;
    const row = await db
      .insertInto('api_tokens')
      .values({ user_id: userId, name, hash, prefix, scopes: [...scopes], expires_at: expiresAt })
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    return toToken(row);
  },

  async count(userId) {
    const live = sql<number>`count(*) filter (where revoked_at is null and coalesce(expires_at > now(), true))::int`;
    return await db
      .selectFrom('api_tokens')
      .select([live.as('live'), sql<number>`count(*)::int`.as('stored')])
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
  },

  async listOwned(userId) {
    const query = db.selectFrom('api_tokens').select(SHOWN).where('user_id', '=', userId);
    return await query.orderBy('created_at', 'desc').orderBy('id', 'desc').$call(allAs(toToken));
  },

  findWithUser: (hashes) => findWithUsers(db, sql`t.hash = any(${hashes}::bytea[])`),

  findAllByIdWithUser: (ids) => findWithUsers(db, sql`t.id = any(${ids}::uuid[])`),

  async revoke(id, userId) {
    const revoked = await db
      .updateTable('api_tokens')
      .set({ revoked_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .returning(SHOWN)
      .executeTakeFirst();
    if (revoked !== undefined) return { token: toToken(revoked), changed: true };
    const query = db.selectFrom('api_tokens').select(SHOWN).where('id', '=', id);
    const before = await query.where('user_id', '=', userId).executeTakeFirst();
    return before === undefined ? null : { token: toToken(before), changed: false };
  },

  async delete(id, userId) {
    const query = db.deleteFrom('api_tokens').where('id', '=', id).where('user_id', '=', userId);
    return await query.returning(SHOWN).$call(firstAs(toToken));
  },

  async touch(uses) {
    await sql`
      update api_tokens t set last_used_at = u.at from ${unnested(uses)}
      where t.id = u.id and coalesce(t.last_used_at < u.at, true)
    `.execute(db);
  },
});

type RowWithUser = Selectable<ApiTokensTable> & {
  user: Selectable<UsersTable>;
  now: Date;
  requests_per_minute: number | null;
  tier: UseLimitsRow;
};

/** Handwritten, since building it takes as long as PostgreSQL needs to answer. */
async function findWithUsers(db: Db, which: RawBuilder<unknown>): Promise<readonly TokenWithUser[]> {
  const { rows } = await sql<RowWithUser>`
    select t.*, to_jsonb(u) - 'password_hash' as user, to_jsonb(i) as tier, now() as now,
      (select value::int from settings where key = 'requestsPerMinute') as requests_per_minute
    from api_tokens t join users u on u.id = t.user_id join tiers i on i.name = u.tier
    where ${which}
  `.execute(db);
  return rows.map((row) => ({
    hash: row.hash,
    token: toToken(row),
    user: toUser(fromJson(row.user)),
    now: row.now,
    requestsPerMinute: row.requests_per_minute ?? DEFAULT_SETTINGS.requestsPerMinute,
    limits: toUseLimits(row.tier),
  }));
}

const toToken = (row: Omit<Selectable<ApiTokensTable>, 'hash'>): ApiToken => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
});
