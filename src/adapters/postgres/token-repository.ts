import { type Kysely, type Selectable, sql } from 'kysely';
import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import type { ApiToken } from '../../domain/token.ts';
import type { TokenRepository, TokenWithUser } from '../../ports/token-repository.ts';
import { fromJson, numberSetting, unnested } from './fragments.ts';
import type { ApiTokensTable, Database, UsersTable } from './schema.ts';
import { toUser } from './user-repository.ts';

/** All that is known of a token but its hash. */
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

export const postgresTokens = (db: Kysely<Database>): TokenRepository => ({
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
      .select([live.as('live'), sql<number>`count(*)::int`.as('kept')])
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
  },

  async listOwned(userId) {
    const query = db.selectFrom('api_tokens').select(SHOWN).where('user_id', '=', userId);
    const rows = await query.orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
    return rows.map(toToken);
  },

  async findWithUser(hashes) {
    const rows = await withUsers(db).where('t.hash', '=', sql<Buffer>`any(${hashes}::bytea[])`).execute();
    return rows.map(toTokenWithUser);
  },

  async findAllByIdWithUser(ids) {
    const rows = await withUsers(db).where('t.id', '=', sql<string>`any(${ids}::uuid[])`).execute();
    return rows.map(toTokenWithUser);
  },

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
    const row = await query.returning(SHOWN).executeTakeFirst();
    return row === undefined ? null : toToken(row);
  },

  async touch(uses) {
    await sql`
      update api_tokens t set last_used_at = u.at from ${unnested(uses)}
      where t.id = u.id and coalesce(t.last_used_at < u.at, true)
    `.execute(db);
  },
});

const withUsers = (db: Kysely<Database>) =>
  db
    .selectFrom('api_tokens as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(SHOWN.map((column) => `t.${column}` as const))
    .select([
      't.hash',
      sql<Selectable<UsersTable>>`to_jsonb(u) - 'password_hash'`.as('user'),
      sql<Date>`now()`.as('now'),
      numberSetting(db, 'requestsPerMinute').as('requests_per_minute'),
    ]);

const toTokenWithUser = (
  row: Awaited<ReturnType<ReturnType<typeof withUsers>['execute']>>[number],
): TokenWithUser => ({
  hash: row.hash,
  token: toToken(row),
  user: toUser(fromJson(row.user)),
  now: row.now,
  requestsPerMinute: row.requests_per_minute ?? DEFAULT_SETTINGS.requestsPerMinute,
});

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
