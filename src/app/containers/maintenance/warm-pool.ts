import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { coalesced } from '../../../concurrency/coalesce.ts';
import { DEFAULT_IMAGE_KEY, pinned } from '../../../domain/containers/catalogue.ts';
import { volumeName } from '../../../domain/containers/container.ts';
import { isHostShort } from '../../../domain/containers/disk-quota.ts';
import { defaultResources, type Resources } from '../../../domain/containers/resources.ts';
import {
  diskToClaim,
  POOL_GENERATION,
  POOL_HOSTNAME,
  type PoolMember,
  type PoolModel,
  planPool,
} from '../../../domain/containers/warm-pool.ts';
import type { ContainerDisk } from '../../../ports/containers/container-disk.ts';
import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import {
  type ContainerObserver,
  type ContainerRuntime,
  isContainerUnresponsive,
  isWaitedFor,
  type ListedContainer,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { Checkpoint } from '../operations/operation-deps.ts';

/** Longer than the engine's limits for a create and a start. */
const LEASE_SECONDS = 120;
/** Members are made when no container has been requested for this long. */
const QUIET_MS = 1_000;
const PATIENCE_MS = 5_000;
/** Waiting members cost almost nothing, so they have this tier's defaults. */
const MODEL_TIER = 'free';

type PoolSettings = {
  readonly node: string;
  /** Free space that the host needs for anything new; null for the rule of `floorBytes`. */
  readonly diskFloorMb: number | null;
  /** How many are kept; 0 for none. */
  readonly size: number;
};

export type WarmPoolDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime & Pick<ContainerObserver, 'find' | 'list'> & ContainerDisk;
  readonly engine: WarmPoolEngine;
  readonly settings: PoolSettings;
  /** This process; the same after a restart. */
  readonly owner: string;
  readonly log: Logger;
  /** Called before and after each step, for fault tests that end the process. */
  readonly checkpoint: Checkpoint;
};

export type WarmPool = ReturnType<typeof warmPool>;

type Upkeep = {
  readonly deps: WarmPoolDeps;
  /** What members are made of; null until known. */
  model: PoolModel | null;
  hasListed: boolean;
  lastClaimMs: number;
  isStopped: boolean;
};

/** Keeps started containers of the default image and gives each to one create. */
export function warmPool(deps: WarmPoolDeps) {
  const upkeep: Upkeep = {
    deps,
    model: null,
    hasListed: false,
    lastClaimMs: Number.NEGATIVE_INFINITY,
    isStopped: false,
  };
  const pass = coalesced(() => tendUnlessStopped(upkeep));
  const passAfterClaims = coalesced(async () => {
    await quiet(upkeep);
    await pass();
  });
  return {
    /** Requests a pass in the background; during a pass, another one. */
    soon: (): void => void pass(),

    /** A started container for a create, in its transaction; null when none fits. */
    async claim(tx: Pick<Repositories, 'warmPool'>, image: string, resources: Resources) {
      const member = await claim(upkeep, tx, image, resources);
      if (member !== null) void passAfterClaims();
      return member;
    },

    /** Ends the background work; members stay. */
    async stop(): Promise<void> {
      upkeep.isStopped = true;
      await pass();
    },
  };
}

async function claim(
  upkeep: Upkeep,
  tx: Pick<Repositories, 'warmPool'>,
  image: string,
  resources: Resources,
): Promise<PoolMember | null> {
  const { deps, model } = upkeep;
  upkeep.lastClaimMs = performance.now();
  if (deps.settings.size === 0 || model === null || model.image !== image) return null;
  const { node, imageId } = model;
  const diskMb = diskToClaim(resources, deps.runtime.diskQuota);
  return await tx.warmPool.claim({ node, image, imageId, diskMb });
}

async function tendUnlessStopped(upkeep: Upkeep): Promise<void> {
  if (upkeep.isStopped) return;
  await tend(upkeep).catch((err: unknown) => {
    if (!(err instanceof RuntimeUnavailable))
      upkeep.deps.log.warn({ err }, 'could not maintain the warm pool');
  });
}

/** Removes and makes members as planned. Throws when the engine does not answer. */
async function tend(upkeep: Upkeep): Promise<void> {
  const { deps } = upkeep;
  const { storage, runtime, owner, settings } = deps;
  const { size } = settings;
  const members = await storage.repositories.warmPool.list(owner, !upkeep.hasListed);
  if (size === 0 && members.length === 0) return;
  // Rows before the listing: a member that becomes ready in between stays.
  const listed = await runtime.list();
  const dbIdsOf = (some: readonly ListedContainer[]) => new Set(some.map(({ dbId }) => dbId));
  const waitedFor = dbIdsOf(listed.filter(isWaitedFor));
  const running = dbIdsOf(listed.filter((one) => one.state === 'running' && !isWaitedFor(one)));
  const model = size === 0 ? null : await modelNow(deps);
  if (model?.isOlder === true && upkeep.model?.imageId !== model.imageId)
    deps.log.warn(`the warm pool uses an older image until the new one is made: ${model.imageId}`);
  upkeep.model = model;
  upkeep.hasListed = true;
  const plan = planPool(members, running, size, model);
  for (const member of plan.remove)
    await remove(deps, member, waitedFor.has(member.dbId)).catch(unlessUnresponsive);
  for (let left = plan.make; left > 0 && !upkeep.isStopped && model !== null; left -= 1) {
    await quiet(upkeep);
    if (isHostShort(await runtime.hostSpace(), settings.diskFloorMb)) return;
    if (!upkeep.isStopped) await make(deps, model);
  }
}

/** The next pass tries it again. */
function unlessUnresponsive(error: unknown): void {
  if (!isContainerUnresponsive(error)) throw error;
}

/** Waits while containers are being requested, so that the pool's own calls do not slow them. */
async function quiet(upkeep: Upkeep): Promise<void> {
  const latest = performance.now() + PATIENCE_MS;
  for (;;) {
    const now = performance.now();
    const wait = Math.min(upkeep.lastClaimMs + QUIET_MS, latest) - now;
    if (wait <= 0 || upkeep.isStopped) return;
    await sleep(Math.min(wait, QUIET_MS / 10));
  }
}

/** What members are made of now; null while the engine lacks the default image. */
async function modelNow({ storage, engine, settings: { node } }: WarmPoolDeps): Promise<PoolModel | null> {
  const { catalogue } = storage.repositories;
  const [images, tiers] = await Promise.all([catalogue.images(), catalogue.tiers()]);
  const image = images.find(({ key }) => key === DEFAULT_IMAGE_KEY);
  const tier = tiers.find(({ name }) => name === MODEL_TIER) ?? tiers[0];
  if (image === undefined || tier === undefined) return null;
  const reference = pinned(image);
  const named = await engine.namedImage(reference);
  if (named === null) return null;
  const { id: imageId, isOlder } = named;
  return { node, image: reference, imageId, isOlder, resources: defaultResources(tier) };
}

/** Recorded before it is made, so that it is found again. A member that does not start is removed. */
async function make(deps: WarmPoolDeps, model: PoolModel): Promise<void> {
  const { storage, runtime, settings, owner, checkpoint, log } = deps;
  const rows = storage.repositories.warmPool;
  const dbId = randomUUID();
  const { isOlder: _, ...madeOf } = model;
  const member = { ...madeOf, dbId, volume: volumeName(dbId) };
  if (!(await rows.begin(member, settings.size, owner, LEASE_SECONDS))) return;
  try {
    await checkpoint('pool before create');
    const handle = await runtime.create({
      ...member,
      ownerId: null,
      generation: POOL_GENERATION,
      operationId: null,
      hostname: POOL_HOSTNAME,
      env: {},
    });
    await checkpoint('pool after create');
    await runtime.start(handle);
    await checkpoint('pool after start');
    const quota = (await runtime.volumeFacts(member.volume))?.quota ?? null;
    if (!(await rows.markReady(dbId, owner, { runtimeId: handle.runtimeId, quota })))
      throw new Error('another process took it over');
    await checkpoint('pool after ready');
  } catch (error) {
    log.warn({ err: error, dbId }, 'a warm pool container did not start');
    await remove(deps, { ...member, state: 'making', runtimeId: null, quota: null });
    throw error;
  }
}

/** Out of the pool first, so that no create gets a member being removed. `isLater`: its node cannot remove it now. */
async function remove(deps: WarmPoolDeps, member: PoolMember, isLater = false): Promise<void> {
  const { storage, runtime, owner, checkpoint } = deps;
  const rows = storage.repositories.warmPool;
  if (!(await rows.retire(member.dbId, owner, LEASE_SECONDS)) || isLater) return;
  await checkpoint('pool before discard');
  const handle = await runtime.find(member.dbId, POOL_GENERATION);
  if (handle !== null) await runtime.remove(handle);
  await runtime.removeVolume(member.volume);
  await checkpoint('pool after discard');
  await rows.forget(member.dbId, owner);
}
