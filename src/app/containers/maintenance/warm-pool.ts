import { setTimeout as sleep } from 'node:timers/promises';
import { coalesced } from '../../../concurrency/coalesce.ts';
import { DEFAULT_IMAGE_KEY, pinned } from '../../../domain/containers/catalogue.ts';
import { isHostShort } from '../../../domain/containers/disk-quota.ts';
import { defaultResources, type Resources } from '../../../domain/containers/resources.ts';
import {
  diskToClaim,
  type PoolMember,
  type PoolModel,
  planPool,
} from '../../../domain/containers/warm-pool.ts';
import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import {
  isContainerUnresponsive,
  isWaitedFor,
  type ListedContainer,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import type { Repositories } from '../../../ports/storage.ts';
import {
  LEASE_SECONDS,
  leave,
  makeMember,
  type PoolDeps,
  removeMember,
  renewLeases,
} from './pool-members.ts';

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

export type WarmPoolDeps = Omit<PoolDeps, 'leased'> & {
  readonly engine: WarmPoolEngine;
  readonly settings: PoolSettings;
};

export type WarmPool = ReturnType<typeof warmPool>;

type Upkeep = {
  readonly deps: WarmPoolDeps & PoolDeps;
  /** What members are made of; null until known. */
  model: PoolModel | null;
  hasListed: boolean;
  lastClaimMs: number;
  isStopped: boolean;
};

/** Keeps started containers of the default image and gives each to one create. */
export function warmPool(given: WarmPoolDeps) {
  const deps = { ...given, leased: new Set<string>() };
  const upkeep: Upkeep = {
    deps,
    model: null,
    hasListed: false,
    lastClaimMs: Number.NEGATIVE_INFINITY,
    isStopped: false,
  };
  const pass = coalesced(() => tendUnlessStopped(upkeep));
  const warn = (err: unknown): void =>
    deps.log.warn({ err }, 'could not remove a container of the warm pool');
  let releasing = Promise.resolve();
  const passAfterClaims = coalesced(async () => {
    await quiet(upkeep);
    await pass();
  });
  return {
    /** Requests a pass in the background; during a pass, another one. */
    soon: (): void => void pass(),

    /**
     * A started container for one create, marked as claimed in the engine; null when none fits, or `isWanted` returns
     * false. `claim` or `release` follows.
     */
    async reserve(image: string, resources: Resources, isWanted: () => Promise<boolean>) {
      const member = await reserve(upkeep, image, resources, isWanted);
      if (member !== null) void passAfterClaims();
      return member;
    },

    /** Takes a reserved member out of the pool, in the create's transaction; null when this process has lost it. */
    async claim(tx: Pick<Repositories, 'warmPool'>, member: PoolMember | null) {
      return member !== null && (await tx.warmPool.forget(member, deps.owner)) ? member : null;
    },

    /** Removes a reserved member that no create has taken, in the background. */
    release(member: PoolMember | null): void {
      if (member === null) return;
      const removing = removeMember(deps, member, { isUnused: true }).catch(warn);
      // Nothing is kept of what has ended.
      releasing = Promise.all([releasing, removing]).then(() => {});
    },

    /** For a timer: extends the leases of what this process makes or removes. */
    renew: (): Promise<void> => renewLeases(deps),

    /** Ends the background work; members stay. */
    async stop(): Promise<void> {
      upkeep.isStopped = true;
      await Promise.all([pass(), releasing]);
    },
  };
}

/** A restored database, or one that failed over, may call a member ready whom a create has claimed: the engine decides. */
async function reserve(
  upkeep: Upkeep,
  image: string,
  resources: Resources,
  isWanted: () => Promise<boolean>,
): Promise<PoolMember | null> {
  const { deps, model } = upkeep;
  const { storage, runtime, owner, settings, checkpoint, log } = deps;
  upkeep.lastClaimMs = performance.now();
  if (settings.size === 0 || model === null || model.image !== image || !(await isWanted())) return null;
  const { node, imageId, quota } = model;
  const wanted = { node, image, imageId, quota, diskMb: diskToClaim(resources, quota) };
  const member = await storage.repositories.warmPool.reserve(wanted, owner, LEASE_SECONDS);
  if (member === null || member.runtimeId === null) return null;
  await checkpoint('pool before claim');
  const isOurs = await runtime.claim({ node, runtimeId: member.runtimeId }).catch((err: unknown) => {
    log.warn({ err, dbId: member.dbId }, 'could not claim a container of the warm pool');
    return null;
  });
  await checkpoint('pool after claim');
  if (isOurs === false) await leave(deps, member);
  return isOurs === true ? member : null;
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
  const isGood = (one: ListedContainer): boolean =>
    one.state === 'running' && one.isMember === true && !isWaitedFor(one);
  const running = dbIdsOf(listed.filter(isGood));
  const model = size === 0 ? null : await modelNow(deps);
  if (model?.isOlder === true && upkeep.model?.imageId !== model.imageId)
    deps.log.warn(`the warm pool uses an older image until the new one is made: ${model.imageId}`);
  upkeep.model = model;
  upkeep.hasListed = true;
  const plan = planPool(members, running, size, model);
  for (const member of plan.remove)
    await removeMember(deps, member, { isLater: waitedFor.has(member.dbId) }).catch(unlessUnresponsive);
  for (let left = plan.make; left > 0 && !upkeep.isStopped && model !== null; left -= 1) {
    await quiet(upkeep);
    if (isHostShort(await runtime.hostSpace(), settings.diskFloorMb)) return;
    if (!upkeep.isStopped) await makeMember(deps, model, size);
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
async function modelNow({
  storage,
  engine,
  runtime,
  settings: { node },
}: WarmPoolDeps): Promise<PoolModel | null> {
  const { catalogue } = storage.repositories;
  const [images, tiers] = await Promise.all([catalogue.images(), catalogue.tiers()]);
  const image = images.find(({ key }) => key === DEFAULT_IMAGE_KEY);
  const tier = tiers.find(({ name }) => name === MODEL_TIER) ?? tiers[0];
  if (image === undefined || tier === undefined) return null;
  const reference = pinned(image);
  const named = await engine.namedImage(reference);
  if (named === null) return null;
  const { id: imageId, isOlder } = named;
  const { diskQuota: quota } = runtime;
  return { node, image: reference, imageId, isOlder, quota, resources: defaultResources(tier) };
}
