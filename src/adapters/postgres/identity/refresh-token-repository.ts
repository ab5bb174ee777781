import type { RefreshTokenRepository } from '../../../ports/identity/refresh-token-repository.ts';
import { fromColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import { clockNow, firstAs, run } from '../sql.ts';

export const postgresRefreshTokens = (db: Db): RefreshTokenRepository => ({
  insert: (hash, sessionId) =>
    db.insertInto('refresh_tokens').values({ hash, session_id: sessionId }).$call(run),

  lock: (hash) =>
    db
      .selectFrom('refresh_tokens')
      .select(['session_id', 'spent_at', 'spent_by', clockNow.as('now')])
      .where('hash', '=', hash)
      .forUpdate()
      .$call(firstAs(fromColumns('sessionId spentAt spentBy now'))),

  spend: (hash, client) =>
    db
      .updateTable('refresh_tokens')
      .set({ spent_at: clockNow, spent_by: client })
      .where('hash', '=', hash)
      .$call(run),
});
