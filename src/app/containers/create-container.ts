import { randomUUID } from 'node:crypto';
import { within } from '../../concurrency/timeout.ts';
import {
  DEFAULT_IMAGE_KEY,
  DEFAULT_ROLE_KEY,
  type Image,
  pinned,
} from '../../domain/containers/catalogue.ts';
import { type Container, nameFaults, volumeName } from '../../domain/containers/container.ts';
import { envFaults } from '../../domain/containers/environment.ts';
import { type Labels, labelFaults } from '../../domain/containers/lifetime/labels.ts';
import {
  firstLifetime,
  type LifetimeRequest,
  lifetimeFaults,
  NO_LIFETIME,
} from '../../domain/containers/lifetime/lifetime.ts';
import { defaultResources, type Resources, resourceFaults } from '../../domain/containers/resources.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import type { Caller, Origin } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import { ImageUnavailable } from '../../ports/containers/container-runtime.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { Note } from '../idempotency.ts';
import type { ContainerDeps } from './container-deps.ts';
import { checkNewContainer, tierOf } from './container-limits.ts';
import { checkHostDisk } from './disk-quota.ts';
import type { Prepare } from './operations/begin-operation.ts';
import { pinged } from './operations/operation-deps.ts';

/** A create request; the catalogue and the tier supply absent fields. */
export type CreateRequest = {
  /** Required, except for an ephemeral container. */
  readonly name?: string;
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

type Plan = {
  readonly name: string;
  readonly image: Image;
  readonly role: string;
  readonly resources: Resources;
  readonly lifetime: LifetimeRequest;
};

/**
 * Makes a container and waits up to `createWaitMs` for it to run. The row is `creating` until then, for callers
 * answered earlier. `note` records the id in the row's transaction.
 */
export const createContainer =
  (deps: ContainerDeps) =>
  async (
    request: CreateRequest,
    caller: Caller,
    origin: Origin,
    note?: Note,
  ): Promise<Result<Container, DomainError>> => {
    if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    const answers = pinged(deps);
    const planned = await plan(deps.storage.repositories, request, caller);
    if (!planned.ok) return planned;
    const room = await checkHostDisk(deps);
    if (!room.ok) return room;
    let dbId: string = randomUUID();
    const prepare: Prepare = async (tx) => {
      const inserted = await insert(deps, tx, request, planned.value, caller);
      if (!inserted.ok) return inserted;
      const { container, warmRuntimeId } = inserted.value;
      const { name, resources } = container;
      dbId = container.dbId;
      await note?.(tx, dbId);
      return ok({ container: { ...container, generation: 0 }, target: { name, resources }, warmRuntimeId });
    };
    const submitted = deps.operations.submit(dbId, { kind: 'create', caller, origin }, prepare, { answers });
    const finished = await within(deps.settings.createWaitMs, submitted.catch(imageUnavailable), null);
    if (finished !== null) return finished.ok ? ok(finished.value.container) : finished;
    const container = await deps.storage.repositories.containers.findAny(dbId);
    if (container === null) throw new Error(`container ${dbId} was not begun in time`);
    return ok(container);
  };

const imageUnavailable = (error: unknown): Result<never, DomainError> => {
  if (error instanceof ImageUnavailable) return refuse({ code: 'image_unavailable' });
  throw error;
};

/** The complete request, or all its faults at once. */
async function plan(
  { catalogue }: Repositories,
  request: CreateRequest,
  caller: Caller,
): Promise<Result<Plan, DomainError>> {
  const [images, roles, tier] = await Promise.all([
    catalogue.images(),
    catalogue.roles(),
    tierOf({ catalogue }, caller),
  ]);
  const wanted = request.image ?? DEFAULT_IMAGE_KEY;
  const image = images.find(({ key, reference }) => key === wanted || reference === wanted);
  const role = request.role ?? DEFAULT_ROLE_KEY;
  const defaults = defaultResources(tier);
  const resources: Resources = {
    memoryMb: request.memoryMb ?? defaults.memoryMb,
    cpuMillicores: request.cpuMillicores ?? defaults.cpuMillicores,
    diskMb: request.diskMb ?? defaults.diskMb,
  };
  const name = request.name ?? `sandbox-${randomUUID().slice(0, 8)}`;
  const lifetime = firstLifetime(request.lifetime, request.isEphemeral);
  const fields: FieldFaults = {
    ...(request.name === undefined && !request.isEphemeral ? { name: 'is required' } : nameFaults(name)),
    ...lifetimeFaults(lifetime, { ...NO_LIFETIME, isEphemeral: request.isEphemeral }),
    ...labelFaults(request.labels ?? {}),
    ...(image === undefined ? { image: `must be one of ${images.map(({ key }) => key).join(', ')}` } : {}),
    ...(roles.some(({ key }) => key === role)
      ? {}
      : { role: `must be one of ${roles.map(({ key }) => key).join(', ')}` }),
    ...resourceFaults(resources, tier),
    ...envFaults(request.env ?? {}),
  };
  if (image === undefined || Object.keys(fields).length > 0)
    return refuse({ code: 'validation_failed', fields });
  return ok({ name, image, role, resources, lifetime });
}

/** Writes the intent. The owner's row is locked, so two creates cannot both take the last place. */
async function insert(
  { settings, warmPool }: ContainerDeps,
  tx: Repositories,
  request: CreateRequest,
  { name, image, role, resources, lifetime }: Plan,
  caller: Caller,
): Promise<Result<{ container: Container; warmRuntimeId: string | null }, DomainError>> {
  const ownerId = caller.user.id;
  await tx.users.lock(ownerId);
  const [room, isKept] = await Promise.all([
    checkNewContainer(tx, name, caller),
    tx.catalogue.keep(image.key, role),
  ]);
  if (!room.ok) return room;
  if (!isKept)
    return refuse({ code: 'validation_failed', fields: { image: 'or role was just removed: choose again' } });
  const env = request.env ?? {};
  // The environment is fixed when a container is made, so members cannot take one.
  const member = Object.keys(env).length === 0 ? await warmPool.claim(tx, pinned(image), resources) : null;
  const dbId = member?.dbId ?? randomUUID();
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
  });
  const living = await withLifetime(tx, container, request, lifetime);
  return ok({ container: living, warmRuntimeId: member?.runtimeId ?? null });
}

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
