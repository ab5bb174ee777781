import type { RefreshTokenRepository } from '../../../ports/identity/refresh-token-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { clockNow, run } from '../sql.ts';

export const postgresRefreshTokens = (db: Db): RefreshTokenRepository => ({
  insert: (hash, sessionId) =>
    db.insertInto('refresh_tokens').values({ hash, session_id: sessionId }).$call(run),

  async lock(hash) {
    const row = await db
      .selectFrom('refresh_tokens')
      .select(['session_id', 'spent_at', 'spent_by', clockNow.as('now')])
      .where('hash', '=', hash)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) return null;
    return { sessionId: row.session_id, spentAt: row.spent_at, spentBy: row.spent_by, now: row.now };
  },

  spend: (hash, client) =>
    db
      .updateTable('refresh_tokens')
      .set({ spent_at: clockNow, spent_by: client })
      .where('hash', '=', hash)
      .$call(run),
});
