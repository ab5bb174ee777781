import type { Selectable } from 'kysely';
import type { SshKey } from '../../../domain/identity/ssh-key.ts';
import type { SshKeyRepository } from '../../../ports/identity/ssh-key-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import type { SshKeysTable } from '../schema/identity-tables.ts';
import { allAs, COUNT, countOf, firstAs } from '../sql.ts';

export const postgresSshKeys = (db: Db): SshKeyRepository => ({
  insert: ({ userId, name, type, publicKey, fingerprint }) =>
    db
      .insertInto('ssh_keys')
      .values({ user_id: userId, name, type, public_key: publicKey, fingerprint })
      .onConflict((conflict) => conflict.columns(['user_id', 'fingerprint']).doNothing())
      .returningAll()
      .$call(firstAs(toKey)),

  async listOwned(userId) {
    const query = db.selectFrom('ssh_keys').selectAll().where('user_id', '=', userId);
    return await query.orderBy('created_at', 'desc').orderBy('id', 'desc').$call(allAs(toKey));
  },

  count: (userId) => db.selectFrom('ssh_keys').select(COUNT).where('user_id', '=', userId).$call(countOf),

  async remove(id, userId) {
    const query = db.deleteFrom('ssh_keys').where('id', '=', id).where('user_id', '=', userId);
    return await query.returningAll().$call(firstAs(toKey));
  },
});

const toKey = (row: Selectable<SshKeysTable>): SshKey => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  type: row.type,
  publicKey: row.public_key,
  fingerprint: row.fingerprint,
  createdAt: row.created_at,
});
