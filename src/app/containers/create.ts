import { randomUUID } from 'node:crypto';
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
import { orRollBack } from '../transaction.ts';
import type { ContainerDeps } from './deps.ts';
import { launch } from './launch.ts';

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
  readonly max: number;
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
    const inserted = await insert(deps, dbId, request, planned.value, caller);
    if (!inserted.ok) return inserted;
    const done = deps.serial(dbId, () => launch(deps, inserted.value, 'container_created', caller, origin));
    return ok(await firstOf(done, inserted.value, deps.createWaitMs));
  };

/** Every fault of the request at once, or what it comes to. */
async function plan(
  { catalogue }: Repositories,
  request: CreateRequest,
  { user }: Caller,
): Promise<Result<Plan, DomainError>> {
  const [images, roles, tier] = await Promise.all([
    catalogue.images(),
    catalogue.roles(),
    catalogue.tier(user.tier),
  ]);
  if (tier === null) throw new Error(`user ${user.id} has unknown tier ${user.tier}`);
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
  return ok({ image, role, resources, max: tier.maxContainers });
}

/** Writes the intent. The owner's row is locked, so that two creates cannot both take the last place. */
async function insert(
  { storage, runtimeNode }: ContainerDeps,
  dbId: string,
  request: CreateRequest,
  { image, role, resources, max }: Plan,
  { user }: Caller,
): Promise<Result<Container, DomainError>> {
  return await orRollBack(storage.inTransaction, async (tx) => {
    await tx.users.lock(user.id);
    if ((await tx.containers.countLive(user.id)) >= max)
      return refuse({ code: 'container_limit_reached', max });
    const inserted = await tx.containers.insert({
      dbId,
      ownerId: user.id,
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
    if (!inserted) return refuse({ code: 'name_taken' });
    const container = await tx.containers.findOwned({ kind: 'db_id', dbId }, user.id);
    if (container === null) throw new Error(`container ${dbId} vanished inside its transaction`);
    return ok(container);
  });
}

/** The finished work, or the row as it is when the time is up; the work goes on either way. */
async function firstOf(done: Promise<Container>, otherwise: Container, waitMs: number): Promise<Container> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<Container>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), waitMs);
  });
  // A failure after the time is up is in the row already; without this it would end the process.
  done.catch(() => undefined);
  return await Promise.race([done, timeUp]).finally(() => clearTimeout(timer));
}
