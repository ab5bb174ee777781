import { randomUUID } from 'node:crypto';
import { type Image, pinned } from '../../domain/containers/catalogue.ts';
import { type Container, volumeName } from '../../domain/containers/container.ts';
import type { Labels } from '../../domain/containers/lifetime/labels.ts';
import type { LifetimeRequest } from '../../domain/containers/lifetime/lifetime.ts';
import type { Resources } from '../../domain/containers/resources.ts';
import type { Snapshot } from '../../domain/containers/snapshots/snapshot.ts';
import { isFitted, type PoolMember } from '../../domain/containers/warm-pool.ts';
import type { Caller } from '../../domain/identity/caller.ts';
import { ok, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import type { ContainerDeps } from './container-deps.ts';
import { checkNewContainer } from './container-limits.ts';
import type { WarmContainer } from './operations/new-operation.ts';
import { recordRoleSetup } from './snapshots/new-container.ts';

/** What a request says of a new container besides its plan. */
export type NewContainerSettings = {
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Labels;
  /** Deleted at its end. */
  readonly isEphemeral: boolean;
};

/** What a new container is made of. */
export type Plan = {
  readonly name: string;
  readonly image: Image;
  readonly role: string;
  readonly resources: Resources;
  readonly lifetime: LifetimeRequest;
  /** The snapshot that it is made from, besides the image. */
  readonly snapshot: Snapshot | null;
};

type Source = {
  /** The row's id, unless a member is claimed. */
  readonly newId?: string;
  /** Takes a member out of the warm pool; null for a new container. */
  readonly claim?: (tx: Repositories) => Promise<PoolMember | null>;
};

/**
 * Writes the row of a new container. The owner's row is locked, so two creates cannot both be the last that the tier
 * allows.
 */
export async function insertContainer(
  { settings }: Pick<ContainerDeps, 'settings'>,
  tx: Repositories,
  request: NewContainerSettings,
  { name, image, role, resources, lifetime, snapshot }: Plan,
  caller: Caller,
  { newId = randomUUID(), claim = async () => null }: Source = {},
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
  const member = await claim(tx);
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
  { labels, isEphemeral }: NewContainerSettings,
  lifetime: LifetimeRequest,
): Promise<Container> {
  if (labels === undefined && !isEphemeral && Object.keys(lifetime).length === 0) return container;
  const given = { ...lifetime, isEphemeral, ...(labels === undefined ? {} : { labels }) };
  return (await lifetimes.change(container.dbId, given)) ?? container;
}
