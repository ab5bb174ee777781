import type { InstallationRepository } from '../../ports/installation-repository.ts';
import type { Db } from './schema/database-schema.ts';
import { changedOne } from './sql.ts';

export const postgresInstallation = (db: Db): InstallationRepository => ({
  async id() {
    const row = await db.selectFrom('installation').select('id').executeTakeFirstOrThrow();
    return row.id;
  },

  async setupRequired() {
    const admin = await db.selectFrom('users').select('id').where('role', '=', 'admin').executeTakeFirst();
    return admin === undefined;
  },

  async setSetupCodeHash(hash) {
    await db
      .updateTable('installation')
      .set({ setup_code_hash: hash })
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('users').select('id').where('role', '=', 'admin'))),
      )
      .execute();
  },

  async isSetupCode(hash) {
    const row = await db
      .selectFrom('installation')
      .select('id')
      .where('setup_code_hash', '=', hash)
      .executeTakeFirst();
    return row !== undefined;
  },

  spendSetupCode: (hash) =>
    db
      .updateTable('installation')
      .set({ setup_code_hash: null })
      .where('setup_code_hash', '=', hash)
      .$call(changedOne),
});
