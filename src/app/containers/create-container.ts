import { randomUUID } from 'node:crypto';
import { within } from '../../concurrency/timeout.ts';
import {
  DEFAULT_IMAGE_KEY,
  DEFAULT_ROLE_KEY,
  type Image,
  installsSomething,
  pinned,
  type Role,
} from '../../domain/containers/catalogue.ts';
import { type Container, nameFaults, volumeName } from '../../domain/containers/container.ts';
import type { EngineCapabilities } from '../../domain/containers/engine-capabilities.ts';
import { envFaults } from '../../domain/containers/environment.ts';
import { type Labels, labelFaults } from '../../domain/containers/lifetime/labels.ts';
import {
  firstLifetime,
  type LifetimeRequest,
  lifetimeFaults,
  NO_LIFETIME,
} from '../../domain/containers/lifetime/lifetime.ts';
import { defaultResources, type Resources, resourceFaults } from '../../domain/containers/resources.ts';
import type { Snapshot } from '../../domain/containers/snapshots/snapshot.ts';
import { isFitted, type PoolMember } from '../../domain/containers/warm-pool.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import type { Note } from '../idempotency.ts';
import type { ContainerDeps } from './container-deps.ts';
import { checkNewContainer, tierOf } from './container-limits.ts';
import { checkHostDisk } from './disk-quota.ts';
import type { Prepare } from './operations/begin-operation.ts';
import { engineRefusal } from './operations/engine-refusal.ts';
import type { WarmContainer } from './operations/new-operation.ts';
import { pinged } from './operations/operation-deps.ts';
import {
  findSnapshot,
  imageOf,
  lockSnapshot,
  recordRoleSetup,
  snapshotUseFaults,
} from './snapshots/new-container.ts';

/** A create request; the catalogue and the tier supply absent fields. */
export type CreateRequest = {
  /** Required, except for an ephemeral container. */
  readonly name?: string;
  /** The snapshot whose files, role and limits it gets, instead of an image. */
  readonly snapshotId?: string;
  readonly image?: string;
  readonly role?: string;
  readonly memoryMb?: number;
  readonly cpuMillicores?: number;
  readonly diskMb?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Labels;
  /** Deleted at its end. */
  readonly isEphemeral: boolean;
  readonly lifetime: LifetimeRequest;
};

export type Plan = {
  readonly name: string;
  readonly image: Image;
  readonly role: string;
  readonly resources: Resources;
  readonly lifetime: LifetimeRequest;
  /** The snapshot that it is made from, besides the image. */
  readonly snapshot: Snapshot | null;
};

/**
 * Makes a container and waits up to `createWaitMs` for it to run. The row is `creating` until then, for callers
 * answered earlier. `note` records the id in the row's transaction. If a member of the warm pool is on a node that does
 * not answer, or takes no containers, it makes a new container.
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
    const creation = { request, plan: planned.value, caller, origin, note, answers };
    const first = await attempt(deps, creation);
    if (!first.canRetryElsewhere) return first.outcome;
    return (await attempt({ ...deps, warmPool: NO_POOL }, creation)).outcome;
  };

const NO_POOL: ContainerDeps['warmPool'] = { claim: async () => null };

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
};

/** `canRetryElsewhere`: the claimed member's node does not start it, and the create was undone. */
type Attempt = { readonly outcome: Result<Container, DomainError>; readonly canRetryElsewhere: boolean };

async function attempt(
  deps: ContainerDeps,
  { request, plan, caller, origin, note, answers }: Creation,
): Promise<Attempt> {
  const { snapshot } = plan;
  let dbId: string = randomUUID();
  let isMember = false;
  const prepare: Prepare = async (tx) => {
    const isReady = await lockSnapshot(tx, snapshot, caller);
    if (!isReady.ok) return isReady;
    const inserted = await insertContainer(deps, tx, request, plan, caller);
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
  const submitted = deps.operations.submit(dbId, operation, prepare, { answers });
  const finished = await within(deps.settings.createWaitMs, submitted.catch(engineRefusal), null);
  if (finished?.ok) return { outcome: ok(finished.value.container), canRetryElsewhere: false };
  if (finished !== null)
    return { outcome: finished, canRetryElsewhere: isMember && NODE_REFUSALS.has(finished.error.code) };
  const container = await deps.storage.repositories.containers.findAny(dbId);
  if (container === null) throw new Error(`container ${dbId} was not begun in time`);
  return { outcome: ok(container), canRetryElsewhere: false };
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

/**
 * Writes the row of a new container. The owner's row is locked, so two creates cannot both be the last that the tier
 * allows.
 */
export async function insertContainer(
  { settings, warmPool }: Pick<ContainerDeps, 'warmPool' | 'settings'>,
  tx: Repositories,
  request: Pick<CreateRequest, 'env' | 'labels' | 'isEphemeral'>,
  { name, image, role, resources, lifetime, snapshot }: Plan,
  caller: Caller,
  newId: string = randomUUID(),
): AsyncResult<{ container: Container; warm: WarmContainer | null }> {
  const ownerId = caller.user.id;
  // The user was deleted while the request waited.
  if (!(await tx.users.lock(ownerId))) return refuse({ code: 'unauthorized' });
  const [room, isKept] = await Promise.all([
    checkNewContainer(tx, name, caller),
    tx.catalogue.keep(image.key, role),
  ]);
  if (!room.ok) return room;
  if (!isKept)
    return refuse({ code: 'validation_failed', fields: { image: 'or role was just removed: choose again' } });
  const env = request.env ?? {};
  // A member cannot take an environment or other files, which are fixed when a container is made.
  const isUsual = Object.keys(env).length === 0 && snapshot === null;
  const member = isUsual ? await warmPool.claim(tx, pinned(image), resources) : null;
  const dbId = member?.dbId ?? newId;
  const container = await tx.containers.insert({
    dbId,
    ownerId,
    name,
    imageKey: image.key,
    image: pinned(image),
    shell: image.shell,
    role,
    resources,
    env,
    node: member?.node ?? settings.node,
    volume: member?.volume ?? volumeName(dbId),
    diskQuota: member?.quota ?? 'soft',
  });
  const living = await withLifetime(tx, container, request, lifetime);
  if (snapshot !== null) await recordRoleSetup(tx, dbId, role, snapshot);
  return ok({ container: living, warm: asWarm(member, resources) });
}

const asWarm = (member: PoolMember | null, wanted: Resources): WarmContainer | null =>
  member === null || member.runtimeId === null
    ? null
    : { runtimeId: member.runtimeId, isFitted: isFitted(member, wanted) };

/** Most containers have none, and need no second statement. */
async function withLifetime(
  { lifetimes }: Pick<Repositories, 'lifetimes'>,
  container: Container,
  { labels, isEphemeral }: Pick<CreateRequest, 'labels' | 'isEphemeral'>,
  lifetime: LifetimeRequest,
): Promise<Container> {
  if (labels === undefined && !isEphemeral && Object.keys(lifetime).length === 0) return container;
  const given = { ...lifetime, isEphemeral, ...(labels === undefined ? {} : { labels }) };
  return (await lifetimes.change(container.dbId, given)) ?? container;
}
