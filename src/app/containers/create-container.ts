import { randomUUID } from 'node:crypto';
import { within } from '../../concurrency/timeout.ts';
import {
  DEFAULT_IMAGE_KEY,
  DEFAULT_ROLE_KEY,
  installsSomething,
  pinned,
  type Role,
} from '../../domain/containers/catalogue.ts';
import { type Container, nameFaults } from '../../domain/containers/container.ts';
import type { EngineCapabilities } from '../../domain/containers/engine-capabilities.ts';
import { envFaults } from '../../domain/containers/environment.ts';
import { labelFaults } from '../../domain/containers/lifetime/labels.ts';
import {
  firstLifetime,
  type LifetimeRequest,
  lifetimeFaults,
  NO_LIFETIME,
} from '../../domain/containers/lifetime/lifetime.ts';
import { defaultResources, type Resources, resourceFaults } from '../../domain/containers/resources.ts';
import type { PoolMember } from '../../domain/containers/warm-pool.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import type { Note } from '../idempotency.ts';
import type { ContainerDeps } from './container-deps.ts';
import { seemsToFit, tierOf } from './container-limits.ts';
import { checkHostDisk } from './disk-quota.ts';
import { insertContainer, type NewContainerSettings, type Plan } from './insert-container.ts';
import type { Prepare } from './operations/begin-operation.ts';
import { engineRefusal } from './operations/engine-refusal.ts';
import { pinged } from './operations/operation-deps.ts';
import { findSnapshot, imageOf, lockSnapshot, snapshotUseFaults } from './snapshots/new-container.ts';

/** A create request; the catalogue and the tier supply absent fields. */
export type CreateRequest = NewContainerSettings & {
  /** Required, except for an ephemeral container. */
  readonly name?: string;
  /** The snapshot whose files, role and limits it gets, instead of an image. */
  readonly snapshotId?: string;
  readonly image?: string;
  readonly role?: string;
  readonly memoryMb?: number;
  readonly cpuMillicores?: number;
  readonly diskMb?: number;
  readonly lifetime: LifetimeRequest;
};

/**
 * Makes a container and waits up to `createWaitMs` for it to run. The row is `creating` until then, for callers
 * answered earlier. `note` records the id in the row's transaction. If a member of the warm pool is on a node that does
 * not answer, or takes no containers, it makes a new container within the same time.
 */
export const createContainer =
  (deps: ContainerDeps) =>
  async (
    request: CreateRequest,
    caller: Caller,
    origin: RequestOrigin,
    note?: Note,
  ): AsyncResult<Container> => {
    if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    const answers = pinged(deps);
    const planned = await plan(deps, request, caller);
    if (!planned.ok) return planned;
    const room = await checkHostDisk(deps, planned.value.snapshot?.volumeMb);
    if (!room.ok) return room;
    const untilMs = performance.now() + deps.settings.createWaitMs;
    const creation = { request, plan: planned.value, caller, origin, note, answers, untilMs };
    const first = await attempt(deps, creation);
    if (!first.canRetryElsewhere) return first.outcome;
    return (await attempt({ ...deps, warmPool: NO_POOL }, creation)).outcome;
  };

const NO_POOL: ContainerDeps['warmPool'] = {
  reserve: async () => null,
  claim: async () => null,
  release: () => {},
};

/** Refusals of one node. Another node may accept. */
const NODE_REFUSALS: ReadonlySet<DomainError['code']> = new Set([
  'container_unresponsive',
  'node_in_maintenance',
]);

type Creation = {
  readonly request: CreateRequest;
  readonly plan: Plan;
  readonly caller: Caller;
  readonly origin: RequestOrigin;
  readonly note: Note | undefined;
  /** A ping's answer. */
  readonly answers: Promise<void>;
  /** Monotonic deadline for waiting until the operation ends. Waiting until it is recorded has none. */
  readonly untilMs: number;
};

/** `canRetryElsewhere`: the claimed member's node does not start it, and the create was undone. */
type Attempt = { readonly outcome: Result<Container, DomainError>; readonly canRetryElsewhere: boolean };

async function attempt(
  deps: ContainerDeps,
  { request, plan, caller, origin, note, answers, untilMs }: Creation,
): Promise<Attempt> {
  const { snapshot } = plan;
  const reserved = await inTime(deps, untilMs, reserve(deps, request, plan, caller));
  const claim = (tx: Repositories) => deps.warmPool.claim(tx, reserved);
  let dbId: string = randomUUID();
  let isMember = false;
  const prepare: Prepare = async (tx) => {
    isMember = false;
    const isReady = await lockSnapshot(tx, snapshot, caller);
    if (!isReady.ok) return isReady;
    const inserted = await insertContainer(deps, tx, request, plan, caller, { claim });
    if (!inserted.ok) return inserted;
    const { container, warm } = inserted.value;
    const { name, resources } = container;
    dbId = container.dbId;
    isMember = warm !== null;
    await note?.(tx, dbId);
    return ok({ container: { ...container, generation: 0 }, target: { name, resources }, warm });
  };
  const of = snapshot === null ? {} : { snapshotId: snapshot.id };
  const operation = { kind: 'create', caller, origin, ...of } as const;
  const begun = Promise.withResolvers<void>();
  let hasBegun = false;
  const onBegun = (): void => {
    hasBegun = true;
    begun.resolve();
  };
  const submitted = deps.operations.submit(dbId, operation, prepare, { answers }, onBegun);
  const finishing = submitted.catch(engineRefusal).finally(() => {
    // A member in a create whose commit was not confirmed is no longer in the pool, and stays.
    if (!hasBegun) deps.warmPool.release(reserved);
  });
  // A second attempt may have no time left. It then answers with the row, which must exist.
  await Promise.race([begun.promise, finishing]);
  const finished = await within(untilMs - performance.now(), finishing, null);
  if (finished?.ok) return { outcome: ok(finished.value.container), canRetryElsewhere: false };
  if (finished !== null)
    return { outcome: finished, canRetryElsewhere: isMember && NODE_REFUSALS.has(finished.error.code) };
  const container = await deps.storage.repositories.containers.findAny(dbId);
  if (container === null) throw new Error(`container ${dbId} was not begun in time`);
  return { outcome: ok(container), canRetryElsewhere: false };
}

const LATE = Symbol('late');

/** The reserved member, unless it takes longer than the create may: it is then released when it comes. */
async function inTime(
  { warmPool }: Pick<ContainerDeps, 'warmPool'>,
  untilMs: number,
  reserving: Promise<PoolMember | null>,
): Promise<PoolMember | null> {
  const reserved = await within(untilMs - performance.now(), reserving, LATE);
  if (reserved !== LATE) return reserved;
  reserving.then(warmPool.release, () => undefined);
  return null;
}

/**
 * A member of the warm pool for this create; null for a new container. A member cannot take an environment or other files,
 * which are fixed when a container is made. A create that will be refused takes none.
 */
async function reserve(
  { storage, warmPool }: Pick<ContainerDeps, 'storage' | 'warmPool'>,
  { env = {} }: CreateRequest,
  { name, image, resources, snapshot }: Plan,
  caller: Caller,
): Promise<PoolMember | null> {
  if (Object.keys(env).length > 0 || snapshot !== null) return null;
  const isWanted = () => seemsToFit(storage.repositories, name, caller);
  return await warmPool.reserve(pinned(image), resources, isWanted);
}

/** The complete request, or all its faults at once. */
async function plan(
  { runtime, storage }: Pick<ContainerDeps, 'runtime' | 'storage'>,
  request: CreateRequest,
  caller: Caller,
): AsyncResult<Plan> {
  const { catalogue, snapshots } = storage.repositories;
  const [images, roles, tier, snapshot] = await Promise.all([
    catalogue.images(),
    catalogue.roles(),
    tierOf({ catalogue }, caller),
    findSnapshot(snapshots, request, caller),
  ]);
  const wanted = snapshot?.imageKey ?? request.image ?? DEFAULT_IMAGE_KEY;
  const image = images.find(({ key, reference }) => key === wanted || reference === wanted);
  const role = request.role ?? snapshot?.role ?? DEFAULT_ROLE_KEY;
  const defaults = snapshot?.resources ?? defaultResources(tier);
  const resources: Resources = {
    memoryMb: request.memoryMb ?? defaults.memoryMb,
    cpuMillicores: request.cpuMillicores ?? defaults.cpuMillicores,
    diskMb: request.diskMb ?? defaults.diskMb,
  };
  const name = request.name ?? `sandbox-${randomUUID().slice(0, 8)}`;
  const lifetime = firstLifetime(request.lifetime, request.isEphemeral, tier);
  const fields: FieldFaults = {
    ...(request.name === undefined && !request.isEphemeral ? { name: 'is required' } : nameFaults(name)),
    ...lifetimeFaults(lifetime, { ...NO_LIFETIME, isEphemeral: request.isEphemeral }, tier),
    ...labelFaults(request.labels ?? {}),
    ...(image === undefined ? { image: `must be one of ${images.map(({ key }) => key).join(', ')}` } : {}),
    ...roleUseFaults(role, roles, runtime.capabilities),
    ...resourceFaults(resources, tier),
    ...envFaults(request.env ?? {}),
    ...snapshotUseFaults(
      request,
      snapshot,
      { hasImage: image !== undefined, ...runtime.capabilities },
      resources,
      tier,
    ),
  };
  if (image === undefined || Object.keys(fields).length > 0)
    return refuse({ code: 'validation_failed', fields });
  return ok({ name, image: imageOf(image, snapshot), role, resources, lifetime, snapshot });
}

function roleUseFaults(
  key: string,
  roles: readonly Role[],
  { hasRoot }: Pick<EngineCapabilities, 'hasRoot'>,
): FieldFaults {
  const role = roles.find((one) => one.key === key);
  if (role === undefined) return { role: `must be one of ${roles.map((one) => one.key).join(', ')}` };
  return hasRoot || !installsSomething(role)
    ? {}
    : { role: 'needs root, which the engine does not give: choose an image that has the tools' };
}
