import type { OrphanRepository } from '../../../../ports/containers/retention/orphan-repository.ts';
import type { Db } from '../../schema/database-schema.ts';

export const postgresOrphans = (db: Db): OrphanRepository => ({
  async remember(runtimeIds) {
    const forget = db.deleteFrom('orphans');
    if (runtimeIds.length === 0) {
      await forget.execute();
      return new Map();
    }
    await forget.where('runtime_id', 'not in', runtimeIds).execute();
    await db
      .insertInto('orphans')
      .values(runtimeIds.map((runtime_id) => ({ runtime_id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const rows = await db.selectFrom('orphans').selectAll().execute();
    return new Map(rows.map(({ runtime_id, seen_at }) => [runtime_id, seen_at]));
  },
});
