import { sql } from 'kysely';
import type { ParticipationRepository } from '../../../ports/terminals/participation-repository.ts';
import { fromColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import { allAs, run } from '../sql.ts';
import { isLive } from './collaboration-repository.ts';

export const postgresParticipations = (db: Db): ParticipationRepository => ({
  admit: ({ collaborationId, userId }) =>
    db
      .insertInto('collaboration_participants')
      .values({ collaboration_id: collaborationId, user_id: userId })
      .onConflict((conflict) =>
        conflict
          .columns(['collaboration_id', 'user_id'])
          .doUpdateSet({
            left_at: null,
            joined_at: sql`excluded.joined_at`,
            joined_after: sql`excluded.joined_after`,
          })
          .where('collaboration_participants.left_at', 'is not', null),
      )
      .$call(run),

  dismiss: ({ collaborationId, userId }) =>
    db
      .updateTable('collaboration_participants')
      .set({ left_at: sql<Date>`now()` })
      .where('collaboration_id', '=', collaborationId)
      .where('user_id', '=', userId)
      .$call(run),

  putOut: ({ collaborationId, userId }) =>
    db
      .updateTable('collaboration_participants')
      .set({ left_at: sql<Date>`coalesce(left_at, now())`, removed_at: sql<Date>`now()` })
      .where('collaboration_id', '=', collaborationId)
      .where('user_id', '=', userId)
      .$call(run),

  async stillActive(participations) {
    if (participations.length === 0) return [];
    return await db
      .selectFrom('collaborations as k')
      .innerJoin('collaboration_participants as p', 'p.collaboration_id', 'k.id')
      .select(['p.collaboration_id', 'p.user_id'])
      .where('k.id', 'in', [...new Set(participations.map(({ collaborationId }) => collaborationId))])
      .where('p.left_at', 'is', null)
      .where(isLive)
      .$call(allAs(fromColumns('collaborationId userId')));
  },
});
