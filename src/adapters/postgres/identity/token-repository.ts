import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { ApiToken, TokenEnd } from '../../../domain/identity/token.ts';
import type {
  NewToken,
  TokenRecords,
  TokenRepository,
  TokenUses,
  TokenWithUser,
} from '../../../ports/identity/token-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { ApiTokensTable } from '../schema/identity-tables.ts';
import { allAs, firstAs, unnested } from '../sql.ts';
import { type OwnerColumns, toOwner } from './credential-owner.ts';

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
  'revoked_reason',
  'parent_id',
  'depth',
  'containers',
  'max_uses',
  'uses_left',
] as const;

export const postgresTokens = (db: Db): TokenRepository => ({
  ...tokenReads(db),
  ...tokenChanges(db),
  ...tokenUses(db),
});

const tokenReads = (
  db: Db,
): Pick<TokenRecords, 'count' | 'listOwned' | 'findWithUser' | 'findAllByIdWithUser'> => ({
  async count(userId) {
    const live = sql<number>`count(*) filter (
      where revoked_at is null and coalesce(expires_at > now(), true) and coalesce(uses_left > 0, true)
    )::int`;
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
});

const tokenChanges = (db: Db): Omit<TokenRecords, keyof ReturnType<typeof tokenReads>> => ({
  async insert(token) {
    const query = db.insertInto('api_tokens').values(toRow(token)).returning(SHOWN);
    return toToken(await query.executeTakeFirstOrThrow());
  },

  revoke: (id, userId) => revoke(db, id, userId),

  async delete(id, userId) {
    if ((await ownedBy(db, id, userId).executeTakeFirst()) === undefined) return null;
    const descendants = await revokeDescendants(db, id, 'parent_deleted');
    const query = db.deleteFrom('api_tokens').where('id', '=', id).where('user_id', '=', userId);
    const token = await query.returning(SHOWN).$call(firstAs(toToken));
    return token === null ? null : { token, descendants };
  },

  async forgetEndedChildren(userId, keep) {
    const { numAffectedRows } = await sql`
      delete from api_tokens where id in (
        select id from api_tokens where user_id = ${userId} and depth > 0
          and (revoked_at is not null or expires_at <= now()
            or uses_left = 0 and last_used_at < now() - interval '1 day')
        order by coalesce(revoked_at, least(expires_at, case uses_left when 0 then last_used_at end)) desc, id desc
        offset ${keep}
      )
    `.execute(db);
    return Number(numAffectedRows ?? 0);
  },

  async revokeAll(userId) {
    await db
      .updateTable('api_tokens')
      .set({ revoked_at: sql<Date>`now()` })
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .execute();
  },
});

const tokenUses = (db: Db): TokenUses => ({
  async take(id) {
    const { rows } = await sql<{ uses_left: number }>`
      update api_tokens set uses_left = uses_left - 1
      where id = ${id} and uses_left > 0 and revoked_at is null returning uses_left
    `.execute(db);
    return rows[0]?.uses_left ?? null;
  },

  async touch(uses) {
    await sql`
      update api_tokens t set last_used_at = u.at from ${unnested(uses)}
      where t.id = u.id and coalesce(t.last_used_at < u.at, true)
    `.execute(db);
  },
});

const ownedBy = (db: Db, id: string, userId: string) =>
  db.selectFrom('api_tokens').select(SHOWN).where('id', '=', id).where('user_id', '=', userId);

/** Ends a live token with its descendants; one that has ended stays as it is. */
async function revoke(db: Db, id: string, userId: string): ReturnType<TokenRepository['revoke']> {
  const revoked = await db
    .updateTable('api_tokens')
    .set({ revoked_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .returning(SHOWN)
    .$call(firstAs(toToken));
  if (revoked !== null) {
    const descendants = await revokeDescendants(db, id, 'parent_revoked');
    return { token: revoked, descendants, changed: true };
  }
  const before = await ownedBy(db, id, userId).$call(firstAs(toToken));
  return before === null ? null : { token: before, descendants: [], changed: false };
}

/** All of them in one statement; the ended ones of the tree keep their first end. */
async function revokeDescendants(db: Db, id: string, reason: TokenEnd): Promise<readonly ApiToken[]> {
  const { rows } = await sql<TokenRow>`
    with recursive tree as (
      select id from api_tokens where parent_id = ${id}
      union all
      select child.id from api_tokens child join tree on child.parent_id = tree.id
    )
    update api_tokens t set revoked_at = now(), revoked_reason = ${reason}
    from tree where t.id = tree.id and t.revoked_at is null
    returning t.*
  `.execute(db);
  return rows.map(toToken);
}

const tokenColumns = toColumns(
  'userId name hash prefix scopes',
  'parentId depth containers maxUses usesLeft',
);

const toRow = ({ lifeMs, notAfter, ...token }: NewToken) => ({
  ...tokenColumns(token),
  // `least` ignores nulls
  expires_at: sql<Date>`least(
    now() + make_interval(secs => ${lifeMs === null ? null : lifeMs / 1000}), ${notAfter}::timestamptz
  )`,
});

type TokenRow = Omit<Selectable<ApiTokensTable>, 'hash'>;

type RowWithUser = Selectable<ApiTokensTable> & OwnerColumns;

/** Handwritten, since building it takes as long as PostgreSQL needs to answer. */
async function findWithUsers(db: Db, which: RawBuilder<unknown>): Promise<readonly TokenWithUser[]> {
  const { rows } = await sql<RowWithUser>`
    select t.*, to_jsonb(u) - 'password_hash' as user, to_jsonb(i) as tier, now() as now,
      (select value::int from settings where key = 'requestsPerMinute') as requests_per_minute
    from api_tokens t join users u on u.id = t.user_id join tiers i on i.name = u.tier
    where ${which}
  `.execute(db);
  return rows.map((row) => ({ hash: row.hash, token: toToken(row), ...toOwner(row) }));
}

const toToken: (row: TokenRow) => ApiToken = fromColumns(
  'id userId name prefix scopes createdAt expiresAt lastUsedAt revokedAt revokedReason',
  'parentId depth containers maxUses usesLeft',
);
