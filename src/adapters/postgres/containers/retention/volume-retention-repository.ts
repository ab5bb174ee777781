import { sql } from 'kysely';
import type { VolumeRetentionRepository } from '../../../../ports/containers/retention/volume-retention-repository.ts';
import { fromColumns } from '../../columns.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, changedOne, clockNow, run } from '../../sql.ts';
import { retentionRule } from './retention-rule.ts';

const AT_ONCE = 20;

const RULE = retentionRule({ table: 'containers', prefix: 'volume_' });

export function postgresVolumeRetention(db: Db): VolumeRetentionRepository {
  const retained = () =>
    db.updateTable('containers').where('state', '=', 'deleted').where('volume_removed_at', 'is', null);

  return {
    async review(retentionDays) {
      await retained()
        .set({ volume_condemned_at: clockNow })
        .where(RULE.isToCondemn(retentionDays))
        .execute();
      await retained().set({ volume_condemned_at: null }).where(RULE.isToSpare(retentionDays)).execute();
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
            .where(RULE.isToRemove(retentionDays))
            .orderBy('deleted_at')
            .limit(AT_ONCE)
            .forUpdate()
            .skipLocked(),
        )
        .returning(['db_id', 'owner_id', 'volume'])
        .$call(allAs(fromColumns('dbId ownerId volume'))),

    purge: (dbId) => retained().set({ volume_purged_at: clockNow }).where('db_id', '=', dbId).$call(run),

    keepAnew: (dbId) =>
      retained()
        .set({ deleted_at: clockNow, volume_condemned_at: null, volume_claimed_at: null })
        .where('db_id', '=', dbId)
        .where('volume_purged_at', 'is', null)
        .where(
          sql<boolean>`(volume_condemned_at is not null or volume_claimed_at is not null
            or deleted_at <= clock_timestamp() - interval '1 hour')`,
        )
        .$call(run),

    markRemoved: (dbId) =>
      retained()
        .set({ volume_removed_at: clockNow })
        .where('db_id', '=', dbId)
        .where('volume_claimed_at', 'is not', null)
        .$call(changedOne),
  };
}
