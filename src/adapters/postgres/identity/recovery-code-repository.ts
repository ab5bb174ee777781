import { sql } from 'kysely';
import type { RecoveryCodeRepository } from '../../../ports/identity/recovery-code-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { COUNT, changedOne, countOf } from '../sql.ts';

export const postgresRecoveryCodes = (db: Db): RecoveryCodeRepository => ({
  async replace(userId, hashes) {
    await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
    const rows = hashes.map((hash) => ({ user_id: userId, hash }));
    if (rows.length > 0) await db.insertInto('recovery_codes').values(rows).execute();
  },

  spend: (userId, hash) =>
    db
      .updateTable('recovery_codes')
      .set({ used_at: sql<Date>`now()` })
      .where('user_id', '=', userId)
      .where('hash', '=', hash)
      .where('used_at', 'is', null)
      .$call(changedOne),

  left: (userId) =>
    db
      .selectFrom('recovery_codes')
      .select(COUNT)
      .where('user_id', '=', userId)
      .where('used_at', 'is', null)
      .$call(countOf),
});
