import { poll } from '../../../concurrency/poll.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { toMb } from '../../../domain/containers/disk-quota.ts';
import { layerMb } from '../../../domain/containers/layer/layer-usage.ts';
import type { SnapshotWork } from '../../../domain/containers/operation.ts';
import type { Snapshot } from '../../../domain/containers/snapshots/snapshot.ts';
import { RuntimeFailure, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { Progress, StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { NotYet, type OperationDeps } from './operation-deps.ts';

/** How long a fork waits for its snapshot before another attempt is left to a timer. */
const READY = { withinMs: 30_000, everyMs: 200 };

const workOf = ({ snapshot, id }: StoredOperation): SnapshotWork => {
  if (snapshot === undefined) throw new Error(`operation ${id} has no snapshot`);
  return snapshot;
};

/** Captures the paused container's layer, as the snapshot's image. */
export async function captureSnapshot(
  { runtime, storage }: OperationDeps,
  operation: StoredOperation,
  { dbId, ownerId, image }: Container,
  old: RuntimeHandle,
): Promise<Progress> {
  const { id } = workOf(operation);
  const { generation } = operation.before;
  const spec = { dbId, ownerId, generation, operationId: operation.id, snapshotId: id };
  const layerImage = await runtime.capture(old, spec);
  const layer = await runtime.layerUse(old, image);
  await storage.repositories.snapshots.record(id, {
    layerImage,
    layerChanges: operation.leftBehind,
    ...(layer === null ? {} : { layerMb: layerMb(layer) }),
  });
  return { layerImage };
}

/** Copies the paused container's volume. */
export async function copyIntoSnapshot(
  { runtime, storage }: OperationDeps,
  operation: StoredOperation,
  { volume: from, image, resources }: Container,
): Promise<Progress> {
  const work = workOf(operation);
  const { volume } = await known(storage.repositories.snapshots.findAny(work.id), work);
  await runtime.copyVolume(from, { dbId: work.id, volume, image, resources });
  const bytes = await runtime.usedBytes(volume, { image, running: null });
  if (bytes !== null) await storage.repositories.snapshots.record(work.id, { volumeMb: toMb(bytes) });
  return { snapshot: { ...work, hasVolume: true } };
}

/** Makes the new container's volume and records its image; waits for a snapshot that is still being taken. */
export async function fillFromSnapshot(
  { runtime, storage }: OperationDeps,
  operation: StoredOperation,
  { dbId, volume }: Container,
): Promise<Progress> {
  const work = workOf(operation);
  const { snapshots, layerImages } = storage.repositories;
  const { image, layerImage, layerChanges, volume: from } = await ready(snapshots, work);
  const images = await runtime.layerImages();
  if (layerImage === null || !images.some(({ reference }) => reference === layerImage))
    throw new RuntimeFailure(`the image of snapshot ${work.id} is gone from the engine`);
  await layerImages.put(dbId, { image: layerImage, changes: layerChanges });
  const { resources } = operation.target;
  await runtime.copyVolume(from, { dbId, volume, image, resources });
  return { snapshot: { ...work, hasVolume: true } };
}

type Snapshots = OperationDeps['storage']['repositories']['snapshots'];

async function ready(snapshots: Snapshots, work: SnapshotWork): Promise<Snapshot> {
  const taken = await poll(async () => {
    const found = await known(snapshots.findAny(work.id), work);
    return found.state === 'creating' ? null : found;
  }, READY);
  if (taken === null) throw new NotYet(work.id);
  if (taken.state === 'failed') throw new Error(`snapshot ${work.id} could not be taken`);
  return taken;
}

async function known(finding: Promise<Snapshot | null>, { id }: SnapshotWork): Promise<Snapshot> {
  const snapshot = await finding;
  if (snapshot === null) throw new Error(`the row of snapshot ${id} is gone`);
  return snapshot;
}
