import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller, Origin } from '../../domain/caller.ts';
import { DEFAULT_IMAGE_KEY, DEFAULT_ROLE_KEY, type Image } from '../../domain/catalogue.ts';
import { type Container, envFaults, nameFaults, volumeName } from '../../domain/container.ts';
import type { DomainError } from '../../domain/errors.ts';
import {
  defaultResources,
  type FieldFaults,
  type Resources,
  resourceFaults,
} from '../../domain/resources.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import { guestExpired } from '../../domain/user.ts';
import type { Repositories } from '../../ports/repositories.ts';
import type { ContainerDeps } from './deps.ts';
import { roomFor, tierOf } from './room.ts';

/** What a user asks for; what is left out is chosen from the catalogue and the tier. */
export type CreateRequest = {
  readonly name: string;
  readonly image?: string;
  readonly role?: string;
  readonly memoryMb?: number;
  readonly cpuMillicores?: number;
  readonly diskMb?: number;
  readonly env?: Readonly<Record<string, string>>;
};

type Plan = {
  readonly image: Image;
  readonly role: string;
  readonly resources: Resources;
};

/**
 * Makes a container and waits up to `createWaitMs` for it to run. The row says `creating` until then, so a caller
 * that is answered early finds the outcome there.
 */
export const createContainer =
  (deps: ContainerDeps) =>
  async (request: CreateRequest, caller: Caller, origin: Origin): Promise<Result<Container, DomainError>> => {
    if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    const planned = await plan(deps.storage.repositories, request, caller);
    if (!planned.ok) return planned;
    const dbId = randomUUID();
    const done = deps.operations.submit(dbId, { kind: 'create', caller, origin }, async (tx) => {
      const inserted = await insert(deps, tx, dbId, request, planned.value, caller);
      if (!inserted.ok) return inserted;
      const { name, resources } = inserted.value;
      return ok({ container: { ...inserted.value, generation: 0 }, target: { name, resources } });
    });
    const finished = await firstOf(done, deps.createWaitMs);
    if (finished?.ok === false) return finished;
    const container = await deps.storage.repositories.containers.findAny(dbId);
    if (container === null) throw new Error(`container ${dbId} was not begun in time`);
    return ok(container);
  };

/** Every fault of the request at once, or what it comes to. */
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
  const fields: FieldFaults = {
    ...nameFaults(request.name),
    ...(image === undefined ? { image: `must be one of ${images.map(({ key }) => key).join(', ')}` } : {}),
    ...(roles.some(({ key }) => key === role)
      ? {}
      : { role: `must be one of ${roles.map(({ key }) => key).join(', ')}` }),
    ...resourceFaults(resources, tier),
    ...envFaults(request.env ?? {}),
  };
  if (image === undefined || Object.keys(fields).length > 0)
    return refuse({ code: 'validation_failed', fields });
  return ok({ image, role, resources });
}

/** Writes the intent. The owner's row is locked, so that two creates cannot both take the last place. */
async function insert(
  { runtimeNode }: ContainerDeps,
  tx: Repositories,
  dbId: string,
  request: CreateRequest,
  { image, role, resources }: Plan,
  caller: Caller,
): Promise<Result<Container, DomainError>> {
  const ownerId = caller.user.id;
  await tx.users.lock(ownerId);
  const room = await roomFor(tx, request.name, caller);
  if (!room.ok) return room;
  await tx.containers.insert({
    dbId,
    ownerId,
    name: request.name,
    imageKey: image.key,
    image: image.digest === null ? image.reference : `${image.reference}@${image.digest}`,
    shell: image.shell,
    role,
    resources,
    env: request.env ?? {},
    node: runtimeNode,
    volume: volumeName(dbId),
  });
  const container = await tx.containers.findOwned({ kind: 'db_id', dbId }, ownerId);
  if (container === null) throw new Error(`container ${dbId} vanished inside its transaction`);
  return ok(container);
}

/** What the work comes to, or null when the time is up; the work goes on either way. */
async function firstOf<T>(done: Promise<T>, waitMs: number): Promise<T | null> {
  // A failure after the time is up is in the row already; without this it would end the process.
  done.catch(() => undefined);
  const waiting = new AbortController();
  const timeUp = sleep(waitMs, null, { signal: waiting.signal }).catch(() => null);
  return await Promise.race([done, timeUp]).finally(() => waiting.abort());
}
