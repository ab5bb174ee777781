import { type Expression, type Selectable, sql } from 'kysely';
import type {
  OperationOutcome,
  OperationRepository,
  Progress,
  StoredOperation,
} from '../../../ports/containers/operation-repository.ts';
import { fromColumns, toChangedColumns, toColumns } from '../columns.ts';
import { compiledOnce, type Placeholders } from '../connection/compiled-once.ts';
import type { OperationsTable } from '../schema/container-tables.ts';
import type { Db } from '../schema/database-schema.ts';
import { originColumns, toOrigin } from '../shared-columns.ts';
import { allAs, clockNow, firstAs, isAny, leaseEnd, run, setOf } from '../sql.ts';

export const postgresOperations = (db: Db): OperationRepository => ({
  ...operationReads(db),
  ...operationProgress(db),
  ...operationLeases(db),
});

const operationReads = (db: Db): Pick<OperationRepository, 'find' | 'active' | 'busy' | 'isPausing'> => ({
  find: (id) => db.selectFrom('operations').selectAll().where('id', '=', id).$call(firstAs(toOperation)),

  active: (dbId) =>
    db
      .selectFrom('operations')
      .selectAll()
      .where('db_id', '=', dbId)
      .where('finished_at', 'is', null)
      .$call(firstAs(toOperation)),

  busy: () =>
    db
      .selectFrom('operations')
      .select('db_id')
      .where('finished_at', 'is', null)
      .$call(setOf((row) => row.db_id)),

  isPausing: (runtimeId) =>
    db
      .selectFrom('operations')
      .select('id')
      .where('finished_at', 'is', null)
      .where('paused', '=', true)
      .where(sql<string>`before ->> 'runtimeId'`, '=', runtimeId)
      .$call(isAny),
});

const operationProgress = (db: Db): Pick<OperationRepository, 'begin' | 'record' | 'finish'> => ({
  begin: (operation, leaseSeconds, step = 'begin') =>
    insertOne(db, { ...toRow(operation), step, leaseSeconds }).$call(isAny),

  record: (id, owner, progress) => {
    const staysCommitted = (progress.phase ?? 'committed') === 'committed';
    const isUncommitted = staysCommitted ? undefined : true;
    return write(db, { id, owner, isUncommitted, ...toUpdate(progress) }).$call(isAny);
  },

  finish: (id, owner, outcome, progress = {}) => {
    const isUncommitted = outcome === 'failed' ? true : undefined;
    return write(db, { id, owner, isUncommitted, outcome, ...toUpdate(progress) }).$call(isAny);
  },
});

type NewRow = ReturnType<typeof toRow> & { readonly step: string; readonly leaseSeconds: number };

const insertOne = compiledOnce((db, { leaseSeconds, ...row }: Placeholders<NewRow>) =>
  db
    .insertInto('operations')
    .values({ ...row, lease_until: leaseEnd(leaseSeconds) })
    .onConflict((conflict) => conflict.column('db_id').where('finished_at', 'is', null).doNothing())
    .returning('id'),
);

type Written = ReturnType<typeof toUpdate> & {
  readonly id: string;
  readonly owner: string;
  readonly outcome?: OperationOutcome | undefined;
  /** Then a committed one stays as it is. */
  readonly isUncommitted: true | undefined;
};

const write = compiledOnce((db, { id, owner, isUncommitted, ...columns }: Placeholders<Written>) =>
  (isUncommitted === undefined ? mine : uncommitted)(db, id, owner)
    .set({ ...columns, ...(columns.outcome === undefined ? {} : { finished_at: clockNow }) })
    .returning('id'),
);

const operationLeases = (db: Db): Pick<OperationRepository, 'renew' | 'release' | 'takeOver'> => ({
  renew: (owner, ids, leaseSeconds) =>
    db
      .updateTable('operations')
      .set({ lease_until: leaseEnd(leaseSeconds) })
      .where('lease_owner', '=', owner)
      .where('id', '=', sql<string>`any(${ids}::uuid[])`)
      .where('finished_at', 'is', null)
      .$call(run),

  release: (id, owner, leaseNumber) =>
    mine(db, id, owner).where('lease_number', '=', leaseNumber).set({ lease_until: clockNow }).$call(run),

  takeOver: (owner, leaseSeconds, own) =>
    db
      .updateTable('operations')
      .set((eb) => ({
        lease_owner: owner,
        lease_until: leaseEnd(leaseSeconds),
        lease_number: eb('lease_number', '+', 1),
      }))
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('operations')
          .select('id')
          .where('finished_at', 'is', null)
          .where((where) =>
            where.or([
              where('lease_until', '<=', clockNow),
              ...(own ? [where('lease_owner', '=', owner)] : []),
            ]),
          )
          .forUpdate()
          .skipLocked(),
      )
      .returningAll()
      .$call(allAs(toOperation)),
});

type Text = string | Expression<string>;

const mine = (db: Db, id: Text, owner: Text) =>
  db
    .updateTable('operations')
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('finished_at', 'is', null);

/** For writes that must not affect a committed one. */
const uncommitted = (db: Db, id: Text, owner: Text) => mine(db, id, owner).where('phase', '<>', 'committed');

const operationColumns = toColumns(
  'id dbId kind phase carryOver verified unfitted wasDown volumeKept freshRuntimeId measured requestedBy reason',
  'leaseOwner leaseNumber',
);

function toRow(operation: Omit<StoredOperation, 'outcome'>) {
  const { origin, before, target, layerImage, leftBehind, refusal, newOwnerId, snapshot, ...others } =
    operation;
  return {
    ...operationColumns(others),
    ...originColumns(origin),
    before: JSON.stringify(before),
    target: JSON.stringify(target),
    fresh_image: layerImage,
    left_behind: leftBehind === null ? null : JSON.stringify(leftBehind),
    refusal: refusal === null ? null : JSON.stringify(refusal),
    new_owner_id: newOwnerId ?? null,
    snapshot_id: snapshot?.id ?? null,
    ...ofSnapshot(snapshot),
  };
}

const ofSnapshot = (work: StoredOperation['snapshot']) => ({
  paused: work?.hasPaused,
  volume_copied: work?.hasVolume,
});

const progressColumns = toChangedColumns(
  'step phase verified unfitted wasDown volumeKept freshRuntimeId measured',
);

/** undefined: unchanged */
const toUpdate = (progress: Progress) => ({
  ...progressColumns(progress),
  fresh_image: progress.layerImage,
  left_behind: progress.leftBehind === undefined ? undefined : JSON.stringify(progress.leftBehind),
  refusal: progress.refusal === undefined ? undefined : JSON.stringify(progress.refusal),
  ...ofSnapshot(progress.snapshot),
});

const operationFields = fromColumns(
  'id dbId kind phase before target carryOver verified unfitted wasDown volumeKept freshRuntimeId measured',
  'leftBehind refusal requestedBy reason leaseOwner leaseNumber outcome',
);

const toOperation = (row: Selectable<OperationsTable>): StoredOperation => ({
  ...operationFields(row),
  layerImage: row.fresh_image,
  origin: toOrigin(row),
  ...(row.snapshot_id === null
    ? {}
    : { snapshot: { id: row.snapshot_id, hasPaused: row.paused, hasVolume: row.volume_copied } }),
  ...(row.new_owner_id === null ? {} : { newOwnerId: row.new_owner_id }),
});
