import { sql } from 'kysely';
import {
  CLAIM_MINUTES,
  CONDEMNED_HOURS,
  GUEST_KEEPS_MINUTES,
} from '../../../../domain/containers/volume-retention.ts';
import type { VolumeRetentionRepository } from '../../../../ports/containers/retention/volume-retention-repository.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, changedOne, clockNow, run } from '../../sql.ts';

const AT_ONCE = 20;

const ago = (unit: 'days' | 'hours' | 'mins', count: number) =>
  sql<Date>`clock_timestamp() - make_interval(${sql.raw(unit)} => ${count})`;

const guestIds = (db: Db) => db.selectFrom('users').select('id').where('guest_until', 'is not', null);

export function postgresVolumeRetention(db: Db): VolumeRetentionRepository {
  const retained = () =>
    db.updateTable('containers').where('state', '=', 'deleted').where('volume_removed_at', 'is', null);

  return {
    async review(retentionDays) {
      await retained()
        .set({ volume_condemned_at: clockNow })
        .where('deleted_at', '<=', ago('days', retentionDays))
        .where('volume_condemned_at', 'is', null)
        .execute();
      await retained()
        .set({ volume_condemned_at: null })
        .where('deleted_at', '>', ago('days', retentionDays))
        .where('volume_condemned_at', 'is not', null)
        .where('volume_claimed_at', 'is', null)
        .execute();
    },

    claim: (retentionDays) =>
      db
        .updateTable('containers')
        .set({ volume_claimed_at: clockNow })
        .where('db_id', 'in', (eb) =>
          eb
            .selectFrom('containers')
            .select('db_id')
            .where('state', '=', 'deleted')
            .where('volume_removed_at', 'is', null)
            .where((where) =>
              where.or([
                where.and([
                  where('deleted_at', '<=', ago('days', retentionDays)),
                  where('volume_condemned_at', '<=', ago('hours', CONDEMNED_HOURS)),
                ]),
                where('volume_purged_at', 'is not', null),
                where.and([
                  where('deleted_at', '<=', ago('mins', GUEST_KEEPS_MINUTES)),
                  where('owner_id', 'in', guestIds(db)),
                ]),
              ]),
            )
            .where((where) =>
              where.or([
                where('volume_claimed_at', 'is', null),
                where('volume_claimed_at', '<=', ago('mins', CLAIM_MINUTES)),
              ]),
            )
            .orderBy('deleted_at')
            .limit(AT_ONCE)
            .forUpdate()
            .skipLocked(),
        )
        .returning(['db_id', 'owner_id', 'volume'])
        .$call(allAs((row) => ({ dbId: row.db_id, ownerId: row.owner_id, volume: row.volume }))),

    purge: (dbId) => retained().set({ volume_purged_at: clockNow }).where('db_id', '=', dbId).$call(run),

    markRemoved: (dbId) =>
      retained()
        .set({ volume_removed_at: clockNow })
        .where('db_id', '=', dbId)
        .where('volume_claimed_at', 'is not', null)
        .$call(changedOne),
  };
}
