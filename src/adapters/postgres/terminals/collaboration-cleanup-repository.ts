import { sql } from 'kysely';
import type { CollaborationCleanupRepository } from '../../../ports/terminals/collaboration-cleanup-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { allAs } from '../sql.ts';
import { isLive } from './collaboration-repository.ts';

export const postgresCollaborationCleanup = (db: Db): CollaborationCleanupRepository => ({
  overdue: () =>
    db
      .selectFrom('collaborations as k')
      .select('k.id')
      .where('k.settled_at', 'is', null)
      .where('k.ended_at', 'is', null)
      .where(sql<boolean>`not (${isLive})`)
      .$call(allAs(({ id }) => id)),

  awaitingCleanUp: () =>
    db
      .selectFrom('collaborations')
      .select('id')
      .where('settled_at', 'is', null)
      .where('ended_at', 'is not', null)
      .$call(allAs(({ id }) => id)),

  async markCleanedUp(id) {
    const set = { settled_at: sql<Date>`now()` };
    await db.updateTable('collaborations').set(set).where('id', '=', id).execute();
  },

  async leftovers(id) {
    const { rows } = await sql<{ user_id: string }>`
        select p.user_id from collaboration_participants p
        join collaborations ended on ended.id = p.collaboration_id
        where p.collaboration_id = ${id} and not exists (
          select from collaborations k join collaboration_participants o on o.collaboration_id = k.id
          where k.db_id = ended.db_id and k.id <> ended.id and k.mode = 'control' and ${isLive}
            and o.user_id = p.user_id and o.left_at is null)`.execute(db);
    return rows.map(({ user_id }) => user_id);
  },
});
