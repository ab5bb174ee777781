import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { withLayerImage } from '../../../domain/containers/layer/carry-over.ts';
import {
  type Facts,
  mayStayStopped,
  type ObservedState,
  type Step,
} from '../../../domain/containers/operation.ts';
import { unreachable } from '../../../domain/result.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { VolumeFacts } from '../../../ports/containers/container-disk.ts';
import type { CaptureSpec } from '../../../ports/containers/container-images.ts';
import type { ContainerSpec, RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { Progress, StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { lossesOf } from '../inside/insight.ts';
import { freshGeneration, freshHandle, oldHandle, requireLatest } from './observe-engine.ts';
import type { OperationDeps } from './operation-deps.ts';
import { captureSnapshot, copyIntoSnapshot, fillFromSnapshot } from './snapshot-steps.ts';

const STOP_GRACE_SECONDS = 10;
const MEASURE_MS = 10_000;
/** Facts older than this are observed again. */
const FACTS_LAST_MS = 1_000;

/** A step in the engine, not in the database. */
export type EngineStep = Exclude<Step, { do: 'commit' | 'put_back' | 'finish' }>;

/** What to record, and the facts that the step has shown; null when only the engine knows them. */
export type Performed = {
  readonly progress: Progress;
  readonly shown: Partial<Facts> | null;
  /** Progress to be written with the next step only, since it is large. */
  readonly unwritten?: Progress;
  /** When the engine confirmed a start, by the monotonic clock. */
  readonly upSinceMs?: number;
};

/** The containers are as they were observed. */
const unchanged = (progress: Progress): Performed => ({ progress, shown: {} });

/** Executes one engine step and returns the new facts. Every step is repeatable. */
export async function performInEngine(
  deps: OperationDeps,
  operation: StoredOperation,
  container: Container,
  step: EngineStep,
  upSinceMs = performance.now(),
): Promise<Performed> {
  const { runtime } = deps;
  switch (step.do) {
    case 'measure_old':
      // Then only the volume is kept, which users of such an engine know.
      if (!runtime.capabilities.measuresDisk) return unchanged({ measured: true, leftBehind: null });
      return await measure(deps, operation, await handleOf(deps, operation, container, 'old'));
    case 'capture_old': {
      const old = await handleOf(deps, operation, container, 'old');
      if (operation.kind === 'snapshot')
        return unchanged(await captureSnapshot(deps, operation, container, old));
      return unchanged({ layerImage: await runtime.capture(old, identity(operation, container)) });
    }
    case 'pause_old':
      await runtime.pause(await handleOf(deps, operation, container, 'old'));
      return { progress: {}, shown: null };
    case 'resume_old':
      await runtime.resume(await handleOf(deps, operation, container, 'old'));
      return { progress: {}, shown: null };
    case 'copy_volume':
      return unchanged(await copyIntoSnapshot(deps, operation, container));
    case 'fill_volume':
      return unchanged(await fillFromSnapshot(deps, operation, container));
    case 'create_fresh':
      return {
        progress: await createFresh(deps, operation, container),
        // Only the engine knows whether it could start one that may stay stopped.
        shown: operation.kind === 'update' && mayStayStopped(operation) ? null : { fresh: 'stopped' },
      };
    case 'start':
      await runtime.start(await handleOf(deps, operation, container, step.which));
      // Its program may have ended at once.
      return { progress: {}, shown: null, upSinceMs: performance.now() };
    case 'stop_old':
      return { progress: {}, shown: { old: await stopOld(deps, operation, container) } };
    case 'fit_fresh':
      await Promise.all([
        runtime.resize(await handleOf(deps, operation, container, 'fresh'), operation.target.resources),
        rememberQuota(deps, container, null),
      ]);
      return unchanged({ unfitted: false });
    case 'verify_fresh':
      await verify(deps, await handleOf(deps, operation, container, 'fresh'), upSinceMs);
      return unchanged({ verified: true });
    case 'remove':
      return await remove(deps, operation, container, step.which);
    default:
      return unreachable(step);
  }
}

async function remove(
  deps: OperationDeps,
  operation: StoredOperation,
  container: Container,
  which: 'old' | 'fresh',
): Promise<Performed> {
  await deps.runtime.remove(await handleOf(deps, operation, container, which));
  if (operation.kind === 'delete') deps.terminals.closeAll(operation.dbId, CLOSE.containerDeleted);
  return { progress: which === 'fresh' ? { freshRuntimeId: null } : {}, shown: { [which]: 'gone' } };
}

async function stopOld(
  deps: OperationDeps,
  operation: StoredOperation,
  container: Container,
): Promise<ObservedState> {
  const isRestart = operation.kind !== 'stop' && operation.kind !== 'transfer';
  const reason = isRestart ? CLOSE.containerRestarted : CLOSE.containerStopped;
  deps.terminals.closeAll(operation.dbId, reason);
  if (operation.kind !== 'delete') await deps.steps.beforeStop(container);
  const handle = await handleOf(deps, operation, container, 'old');
  // The fresh container starts while the engine still releases the network of the old one.
  const until = operation.freshRuntimeId === null ? 'released' : 'ended';
  return await deps.runtime.stop(handle, STOP_GRACE_SECONDS, until);
}

/** A container that cannot be measured in time is recreated anyway, with an unknown loss. */
async function measure(
  { insight, storage, log }: OperationDeps,
  { dbId }: StoredOperation,
  handle: RuntimeHandle,
): Promise<Performed> {
  const sinceMs = performance.now();
  const seen = lossesOf(insight, handle).catch((err: unknown) => {
    log.warn({ err, dbId }, 'could not measure what a recreate loses');
    return null;
  });
  const [now, image] = await Promise.all([
    within(MEASURE_MS, seen, null),
    storage.repositories.layerImages.find(dbId),
  ]);
  const progress = { measured: true, leftBehind: now && withLayerImage(now, image) };
  const isRecent = performance.now() - sinceMs < FACTS_LAST_MS;
  return { progress, unwritten: progress, shown: isRecent ? {} : null };
}

/** Whether the volume exists must be checked before the engine creates one. */
async function createFresh(
  deps: OperationDeps,
  operation: StoredOperation,
  container: Container,
): Promise<Progress> {
  const { runtime, storage, owner } = deps;
  await requireLatest(runtime, operation);
  // A new row has no earlier volume, and a node that does not answer must not hold it up.
  const mayHaveVolume = operation.kind !== 'create' && operation.volumeKept === null;
  const before = mayHaveVolume ? await runtime.volumeFacts(container.volume) : null;
  const volumeKept = operation.volumeKept ?? before !== null;
  if (operation.kind === 'start' && operation.volumeKept === null) {
    await storage.repositories.operations.record(operation.id, owner, { volumeKept });
  }
  const image = await imageOf(deps, operation, container);
  const handle = await runtime.create({ ...specOf(operation, container), image });
  await rememberQuota(deps, container, before);
  return { freshRuntimeId: handle.runtimeId, volumeKept };
}

/** A volume's method is fixed when it is made, by a create or for the warm pool. `known`: what was read of it. */
async function rememberQuota(
  { runtime, storage }: OperationDeps,
  { dbId, volume, diskQuota }: Container,
  known: VolumeFacts | null,
): Promise<void> {
  const quota = (known ?? (await runtime.volumeFacts(volume)))?.quota;
  if (quota !== undefined && quota !== diskQuota) await storage.repositories.diskUse.record(dbId, { quota });
}

/** Every recreate keeps what was carried over, except an update that leaves it behind. */
async function imageOf(
  { runtime, storage, log }: OperationDeps,
  { kind, carryOver, layerImage, dbId }: StoredOperation,
  { image }: Container,
): Promise<string> {
  if (layerImage !== null) return layerImage;
  const { layerImages } = storage.repositories;
  const own = kind === 'update' && !carryOver ? null : await layerImages.find(dbId);
  if (own === null) return image;
  if ((await runtime.layerImages()).some(({ reference }) => reference === own.image)) return own.image;
  log.error({ dbId, image: own.image }, 'what was carried over is gone from the engine');
  await layerImages.put(dbId, null);
  return image;
}

const identity = (operation: StoredOperation, { dbId, ownerId }: Container): CaptureSpec => ({
  dbId,
  ownerId,
  generation: freshGeneration(operation),
  operationId: operation.id,
});

const specOf = (operation: StoredOperation, container: Container): Omit<ContainerSpec, 'image'> => ({
  ...identity(operation, container),
  volume: container.volume,
  hostname: operation.target.name,
  resources: operation.target.resources,
  env: container.env,
  ...(mayStayStopped(operation) && { mayStayStopped: true }),
});

async function handleOf(
  { runtime }: OperationDeps,
  operation: StoredOperation,
  { node, ownerId }: Container,
  which: 'old' | 'fresh',
): Promise<RuntimeHandle> {
  const handle = which === 'old' ? oldHandle(operation, node) : await freshHandle(runtime, operation, node);
  if (handle === null) throw new Error(`the ${which} container of ${operation.dbId} has no runtime id`);
  return { ...handle, ownerId };
}

/** It must run for a while: a container whose program exits at once has failed. */
async function verify(
  { runtime, verifyMs }: OperationDeps,
  handle: RuntimeHandle,
  upSinceMs: number,
): Promise<void> {
  await sleep(Math.max(0, upSinceMs + verifyMs - performance.now()));
  const { kind } = await runtime.observe(handle);
  if (kind !== 'running') throw new Error('the new container did not stay up');
}
