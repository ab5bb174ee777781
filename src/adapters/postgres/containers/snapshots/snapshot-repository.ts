import { type Selectable, sql } from 'kysely';
import { FILE_SYSTEM_MB, type Snapshot } from '../../../../domain/containers/snapshots/snapshot.ts';
import {
  type NewSnapshot,
  SnapshotNameTaken,
  type SnapshotProgress,
  type SnapshotRepository,
} from '../../../../ports/containers/snapshots/snapshot-repository.ts';
import { fromColumns, toChangedColumns, toColumns } from '../../columns.ts';
import type { SnapshotsTable } from '../../schema/container-tables.ts';
import type { Db } from '../../schema/database-schema.ts';
import { resourceColumns, toResources } from '../../shared-columns.ts';
import { allAs, clockNow, firstAs, onlyAs, run } from '../../sql.ts';

/** What a row counts: `snapshotMb`. */
export const sizeMb = sql<number>`(layer_mb + volume_mb + ${sql.lit(FILE_SYSTEM_MB)})`;

export const postgresSnapshots = (db: Db): SnapshotRepository => ({
  ...snapshotReads(db),

  async insert(snapshot) {
    const row = await db
      .insertInto('snapshots')
      .values(toRow(snapshot))
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(nameTaken);
    return toSnapshot(row);
  },

  record: (id, progress) =>
    db.updateTable('snapshots').set(toUpdate(progress)).where('id', '=', id).$call(run),

  settle: (id, state) =>
    db
      .updateTable('snapshots')
      .set({ state, ...(state === 'failed' ? { purged_at: clockNow } : {}) })
      .where('id', '=', id)
      .where('state', '=', 'creating')
      .returningAll()
      .$call(firstAs(toSnapshot)),

  markDeleted: (id) =>
    db
      .updateTable('snapshots')
      .set({ deleted_at: clockNow })
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .$call(run),

  markDeletedOf: (ownerId) =>
    db
      .updateTable('snapshots')
      .set({ deleted_at: clockNow })
      .where('owner_id', '=', ownerId)
      .where('deleted_at', 'is', null)
      .$call(run),
});

const snapshotReads = (
  db: Db,
): Pick<SnapshotRepository, 'list' | 'find' | 'findForUpdate' | 'findAny' | 'use'> => {
  const listed = (ownerId: string) =>
    db
      .selectFrom('snapshots')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .where('deleted_at', 'is', null)
      .where('fork_ids', 'is', null);
  return {
    list: (ownerId) => listed(ownerId).orderBy('created_at', 'desc').orderBy('id').$call(allAs(toSnapshot)),
    find: (id, ownerId) => listed(ownerId).where('id', '=', id).$call(firstAs(toSnapshot)),
    findForUpdate: (id, ownerId) =>
      listed(ownerId).where('id', '=', id).forUpdate().$call(firstAs(toSnapshot)),
    findAny: (id) => db.selectFrom('snapshots').selectAll().where('id', '=', id).$call(firstAs(toSnapshot)),
    use: (ownerId) =>
      db
        .selectFrom('snapshots')
        .select([
          sql<number>`(count(*) filter (where deleted_at is null and fork_ids is null))::int`.as('count'),
          sql<number>`coalesce(sum(${sizeMb}) filter (where deleted_at is null), 0)::int`.as('liveMb'),
          sql<number>`(count(*) filter (where deleted_at is not null))::int`.as('deletedCount'),
          sql<number>`coalesce(sum(${sizeMb}) filter (where deleted_at is not null), 0)::int`.as('deletedMb'),
        ])
        .where('owner_id', '=', ownerId)
        .where('purged_at', 'is', null)
        .where('removed_at', 'is', null)
        .$call(onlyAs((use) => use)),
  };
};

export function nameTaken(error: unknown): never {
  const { constraint } = error as { constraint?: string };
  throw constraint === 'snapshots_name' ? new SnapshotNameTaken('name in use', { cause: error }) : error;
}

const snapshotColumns = toColumns(
  'id ownerId dbId containerName name note imageKey image shell role roleSetupStatus',
  'volume layerMb volumeMb forkIds',
);

const toRow = ({ resources, labels, ...snapshot }: NewSnapshot) => ({
  ...snapshotColumns(snapshot),
  ...resourceColumns(resources),
  labels: JSON.stringify(labels),
});

const measuredColumns = toChangedColumns('layerImage layerMb volumeMb');

/** undefined: unchanged */
const toUpdate = (progress: SnapshotProgress) => ({
  ...measuredColumns(progress),
  layer_changes: progress.layerChanges === undefined ? undefined : JSON.stringify(progress.layerChanges),
});

const snapshotFields = fromColumns(
  'id ownerId dbId containerName name note labels state imageKey image shell role roleSetupStatus',
  'layerImage layerChanges volume layerMb volumeMb forkIds createdAt deletedAt',
);

export const toSnapshot = (row: Selectable<SnapshotsTable>): Snapshot => ({
  ...snapshotFields(row),
  resources: toResources(row),
});
