import { isHostKeyType } from '../../../domain/identity/ssh-host-key.ts';
import type { SshHostKeyRepository } from '../../../ports/identity/ssh-host-key-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';

export const postgresSshHostKeys = (db: Db): SshHostKeyRepository => ({
  async list() {
    const rows = await db.selectFrom('ssh_host_keys').selectAll().orderBy('type').execute();
    return rows.flatMap((row) => (isHostKeyType(row.type) ? [{ ...toKey(row), type: row.type }] : []));
  },

  async insertMissing(key) {
    await db
      .insertInto('ssh_host_keys')
      .values(hostKeyColumns(key))
      .onConflict((conflict) => conflict.column('type').doNothing())
      .execute();
  },

  async replace(before, after) {
    await db
      .updateTable('ssh_host_keys')
      .set(hostKeyColumns(after))
      .where('type', '=', before.type)
      .where('sealed_private_key', '=', before.sealedPrivateKey)
      .execute();
  },
});

const hostKeyColumns = toColumns('type publicKey sealedPrivateKey');
const toKey = fromColumns('publicKey sealedPrivateKey');
