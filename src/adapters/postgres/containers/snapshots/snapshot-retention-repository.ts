import { sql } from 'kysely';
import type { SnapshotRetentionRepository } from '../../../../ports/containers/snapshots/snapshot-retention-repository.ts';
import { fromColumns } from '../../columns.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, changedOne, clockNow } from '../../sql.ts';
import { retentionRule } from '../retention/retention-rule.ts';
import { sizeMb } from './snapshot-repository.ts';

const AT_ONCE = 20;

const RULE = retentionRule({ table: 's' });

/** Whether an operation takes the snapshot `s`, or makes a container of it. */
const isInUse = sql<boolean>`exists (
  select from operations o where o.snapshot_id = s.id and o.finished_at is null)`;

export const postgresSnapshotRetention = (db: Db): SnapshotRetentionRepository => ({
  ...decisions(db),
  ...removals(db),
});

const present = (db: Db) => db.updateTable('snapshots as s').where('s.removed_at', 'is', null);

const decisions = (db: Db): Pick<SnapshotRetentionRepository, 'review' | 'giveUp'> => ({
  async review(retentionDays) {
    await present(db).set({ condemned_at: clockNow }).where(RULE.isToCondemn(retentionDays)).execute();
    await present(db).set({ condemned_at: null }).where(RULE.isToSpare(retentionDays)).execute();
    await present(db)
      .set({ purged_at: clockNow })
      .where('s.fork_ids', 'is not', null)
      .where('s.state', '<>', 'creating')
      .where('s.purged_at', 'is', null)
      .where(sql<boolean>`not ${isInUse}`)
      .execute();
  },

  async giveUp(ownerId, { mb, count }) {
    // A snapshot is given up while those deleted before it do not free enough.
    const { rows } = await sql<{ id: string }>`
      update snapshots set purged_at = clock_timestamp() where id in (
        select id from (
          select id, row_number() over by_age as number, sum(${sizeMb}) over by_age - ${sizeMb} as before
          from snapshots
          where owner_id = ${ownerId} and deleted_at is not null and purged_at is null and removed_at is null
          window by_age as (order by deleted_at, id)
        ) deleted where before < ${mb} or number <= ${count}
      ) returning id`.execute(db);
    return rows.map(({ id }) => id);
  },
});

const removals = (db: Db): Pick<SnapshotRetentionRepository, 'claim' | 'markRemoved' | 'images'> => ({
  claim: (retentionDays) =>
    db
      .updateTable('snapshots')
      .set({ claimed_at: clockNow })
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('snapshots as s')
          .select('s.id')
          .where('s.removed_at', 'is', null)
          .where(sql<boolean>`not ${isInUse}`)
          .where(RULE.isToRemove(retentionDays))
          .limit(AT_ONCE)
          .forUpdate()
          .skipLocked(),
      )
      .returning(['id', 'owner_id', 'volume'])
      .$call(allAs(fromColumns('id ownerId volume'))),

  markRemoved: (id) =>
    present(db)
      .set({ removed_at: clockNow })
      .where('s.id', '=', id)
      .where('s.claimed_at', 'is not', null)
      .$call(changedOne),

  async images() {
    const rows = await db
      .selectFrom('snapshots')
      .select('layer_image')
      .where('layer_image', 'is not', null)
      .where('removed_at', 'is', null)
      .execute();
    return new Set(rows.flatMap(({ layer_image: image }) => image ?? []));
  },
});
