import { randomUUID } from 'node:crypto';
import { volumeName } from '../../../domain/containers/container.ts';
import {
  POOL_GENERATION,
  POOL_HOSTNAME,
  type PoolMember,
  type PoolModel,
} from '../../../domain/containers/warm-pool.ts';
import type { ContainerDisk } from '../../../ports/containers/container-disk.ts';
import type {
  ContainerObserver,
  ContainerRuntime,
  RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { Checkpoint } from '../operations/operation-deps.ts';

export const LEASE_SECONDS = 120;

export type PoolDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime & Pick<ContainerObserver, 'findMember' | 'list'> & ContainerDisk;
  /** This process; the same after a restart. */
  readonly owner: string;
  readonly log: Logger;
  /** Members that this process makes or removes now. */
  readonly leased: Set<string>;
  /** Called before and after each step, for fault tests that end the process. */
  readonly checkpoint: Checkpoint;
};

/** Recorded before it is made, so that it is found again. A member that does not start is removed. */
export async function makeMember(deps: PoolDeps, model: PoolModel, size: number): Promise<void> {
  const { storage, owner, log } = deps;
  const dbId = randomUUID();
  const { isOlder: _, quota: __, ...madeOf } = model;
  const member = { ...madeOf, dbId, volume: volumeName(dbId) };
  if (!(await storage.repositories.warmPool.begin(member, size, owner, LEASE_SECONDS))) return;
  const making: PoolMember = { ...member, state: 'making', runtimeId: null, quota: null };
  let isUnused = true;
  try {
    const handle = await whileLeased(deps, dbId, () => startMember(deps, making));
    // From then on another process may claim it.
    isUnused = false;
    await becomeReady(deps, making, handle);
  } catch (error) {
    log.warn({ err: error, dbId }, 'a warm pool container did not start');
    await removeMember(deps, making, { isUnused });
    throw error;
  }
}

async function startMember(
  { runtime, checkpoint }: PoolDeps,
  { dbId, image, volume, resources }: PoolMember,
): Promise<RuntimeHandle> {
  await checkpoint('pool before create');
  const handle = await runtime.create({
    dbId,
    image,
    volume,
    resources,
    ownerId: null,
    isMember: true,
    generation: POOL_GENERATION,
    operationId: null,
    hostname: POOL_HOSTNAME,
    env: {},
  });
  await checkpoint('pool after create');
  await runtime.start(handle);
  await checkpoint('pool after start');
  return handle;
}

async function becomeReady(
  { storage, runtime, owner, checkpoint }: PoolDeps,
  { dbId, volume }: PoolMember,
  { runtimeId }: RuntimeHandle,
): Promise<void> {
  const quota = (await runtime.volumeFacts(volume))?.quota ?? null;
  if (!(await storage.repositories.warmPool.markReady(dbId, owner, { runtimeId, quota })))
    throw new Error('another process took it over');
  await checkpoint('pool after ready');
}

type Removal = {
  /** It was never ready, or only this process could claim it. */
  readonly isUnused?: boolean;
  /** Its node cannot remove it now. */
  readonly isLater?: boolean;
};

/**
 * Out of the pool first, so that no create gets a member being removed. Only a member that was certainly never claimed
 * goes with its volume: by its row, which nobody claims while it is removed, or by the engine.
 */
export async function removeMember(
  deps: PoolDeps,
  member: PoolMember,
  { isUnused = member.state === 'removing', isLater = false }: Removal = {},
): Promise<void> {
  const { storage, runtime, owner, checkpoint } = deps;
  const rows = storage.repositories.warmPool;
  const { dbId, node, runtimeId, volume } = member;
  const unclaimed = await runtime.findMember(dbId);
  if (unclaimed === null && !isUnused) return await leave(deps, member);
  if (!(await rows.retire(member, owner, LEASE_SECONDS)) || isLater) return;
  await checkpoint('pool before discard');
  await whileLeased(deps, dbId, async () => {
    if (unclaimed !== null) await runtime.remove(unclaimed);
    else if (runtimeId !== null) await runtime.remove({ node, runtimeId });
    await runtime.removeVolume(volume);
  });
  await checkpoint('pool after discard');
  await rows.forget({ dbId, state: 'removing' }, owner);
}

/** Leaves what may be a user's to the reconciler, which stops and later removes a container and never removes a volume. */
export async function leave({ storage, owner, log }: PoolDeps, member: PoolMember): Promise<void> {
  const { dbId, volume } = member;
  if (await storage.repositories.warmPool.leave(member, owner))
    log.warn({ dbId, volume }, 'a container of the warm pool may be in use: its volume stays');
}

/** In a cluster or a swarm, a start or a removal takes longer than the lease, which `renewLeases` extends meanwhile. */
async function whileLeased<T>({ leased }: PoolDeps, dbId: string, work: () => Promise<T>): Promise<T> {
  leased.add(dbId);
  try {
    return await work();
  } finally {
    leased.delete(dbId);
  }
}

/** For a timer. */
export async function renewLeases({ storage, owner, leased }: PoolDeps): Promise<void> {
  for (const dbId of leased) await storage.repositories.warmPool.renew(dbId, owner, LEASE_SECONDS);
}
