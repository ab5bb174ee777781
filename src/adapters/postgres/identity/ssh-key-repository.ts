import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { SshKey } from '../../../domain/identity/ssh-key.ts';
import type { SshKeyRepository, SshKeyWithUser } from '../../../ports/identity/ssh-key-repository.ts';
import { fromColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { SshKeysTable } from '../schema/identity-tables.ts';
import { allAs, COUNT, countOf, firstAs, unnested } from '../sql.ts';
import { type OwnerColumns, toOwner } from './credential-owner.ts';

export const postgresSshKeys = (db: Db): SshKeyRepository => ({
  insert: ({ userId, name, type, publicKey, fingerprint }) =>
    db
      .insertInto('ssh_keys')
      .values({ user_id: userId, name, type, public_key: publicKey, fingerprint })
      .onConflict((conflict) => conflict.column('fingerprint').doNothing())
      .returningAll()
      .$call(firstAs(toKey)),

  async listOwned(userId) {
    const query = db.selectFrom('ssh_keys').selectAll().where('user_id', '=', userId);
    return await query.orderBy('created_at', 'desc').orderBy('id', 'desc').$call(allAs(toKey));
  },

  count: (userId) => db.selectFrom('ssh_keys').select(COUNT).where('user_id', '=', userId).$call(countOf),

  async findByFingerprint(fingerprint) {
    const [found = null] = await findWithUsers(db, sql`k.fingerprint = ${fingerprint}`);
    return found;
  },

  findAllByIdWithUser: (ids) => findWithUsers(db, sql`k.id = any(${ids}::uuid[])`),

  async remove(id, userId) {
    const query = db.deleteFrom('ssh_keys').where('id', '=', id).where('user_id', '=', userId);
    return await query.returningAll().$call(firstAs(toKey));
  },

  async touch(uses) {
    await sql`
      update ssh_keys k set last_used_at = u.at from ${unnested(uses)}
      where k.id = u.id and coalesce(k.last_used_at < u.at, true)
    `.execute(db);
  },
});

type RowWithUser = Selectable<SshKeysTable> & OwnerColumns;

async function findWithUsers(db: Db, which: RawBuilder<unknown>): Promise<readonly SshKeyWithUser[]> {
  const { rows } = await sql<RowWithUser>`
    select k.*, to_jsonb(u) - 'password_hash' as user, to_jsonb(i) as tier, now() as now,
      (select value::int from settings where key = 'requestsPerMinute') as requests_per_minute
    from ssh_keys k join users u on u.id = k.user_id join tiers i on i.name = u.tier
    where ${which}
  `.execute(db);
  return rows.map((row) => ({ key: toKey(row), ...toOwner(row) }));
}

const toKey: (row: Selectable<SshKeysTable>) => SshKey = fromColumns(
  'id userId name type publicKey fingerprint createdAt lastUsedAt',
);
