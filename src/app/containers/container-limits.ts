import type { Tier } from '../../domain/containers/resources.ts';
import { mostWithKept } from '../../domain/containers/volume-retention.ts';
import type { DomainError } from '../../domain/errors.ts';
import { containerEvent } from '../../domain/events.ts';
import type { Caller } from '../../domain/identity/caller.ts';
import type { User } from '../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import { BY_BERTH } from '../by-berth.ts';

/** The user whose limits a container counts against. */
export type Receiver = { readonly user: Pick<User, 'id' | 'tier'> };

/** The user's tier; a user without one is a fault. */
export async function tierOf(
  { catalogue }: Pick<Repositories, 'catalogue'>,
  { user }: Receiver,
): Promise<Tier> {
  const tier = await catalogue.tier(user.tier);
  if (tier === null) throw new Error(`user ${user.id} has unknown tier ${user.tier}`);
  return tier;
}

/** Whether another container of that name fits. Call it with the owner's row locked. */
export const checkContainerLimit = async (
  tx: Repositories,
  name: string,
  receiver: Receiver,
): AsyncResult<null> => roomFor(await countsOf(tx, name, receiver));

/** The same, and whether it fits beside the owner's kept deleted ones. */
export async function checkNewContainer(tx: Repositories, name: string, caller: Caller): AsyncResult<null> {
  const ownerId = caller.user.id;
  const [known, kept] = await Promise.all([
    countsOf(tx, name, caller),
    tx.deletedContainers.countKept(ownerId),
  ]);
  const room = roomFor(known);
  if (!room.ok) return room;
  const max = mostWithKept(known.max);
  const all = known.live + kept;
  if (all < max) return ok(null);
  if (all < max + known.max && (await makesRoom(tx, ownerId, all - max))) return ok(null);
  const names = (await tx.deletedContainers.listRestorable(ownerId)).map((one) => one.name);
  return refuse({ code: 'kept_limit_reached', max, names });
}

/** Whether a new container fits as it is, as far as can be said before the owner's row is locked. Changes nothing. */
export async function seemsToFit(repositories: Repositories, name: string, caller: Caller): Promise<boolean> {
  const [known, kept] = await Promise.all([
    countsOf(repositories, name, caller),
    repositories.deletedContainers.countKept(caller.user.id),
  ]);
  return roomFor(known).ok && known.live + kept < mostWithKept(known.max);
}

/**
 * Whether deleted ephemeral containers make room for one more: those whose volumes are being erased, or the one deleted
 * first, which is given up. `excess` counts the containers above the limit.
 */
async function makesRoom(tx: Repositories, ownerId: string, excess: number): Promise<boolean> {
  const givenUp = await tx.deletedContainers.countGivenUpEphemeral(ownerId);
  if (givenUp > excess) return true;
  const oldest = (await tx.deletedContainers.listRestorable(ownerId)).findLast(
    ({ lifetime }) => lifetime.isEphemeral,
  );
  if (oldest === undefined || givenUp + 1 <= excess) return false;
  await tx.retention.purge(oldest.dbId);
  await tx.audit.append({ ...BY_BERTH, action: 'container_purged', details: oldest.dbId });
  await tx.events.append(containerEvent('container_purged', oldest));
  return true;
}

type Counts = { readonly max: number; readonly live: number; readonly nameIsTaken: boolean };

async function countsOf(tx: Repositories, name: string, receiver: Receiver): Promise<Counts> {
  const ownerId = receiver.user.id;
  const [{ maxContainers: max }, live, nameIsTaken] = await Promise.all([
    tierOf(tx, receiver),
    tx.containers.countLive(ownerId),
    tx.containers.nameInUse(ownerId, name),
  ]);
  return { max, live, nameIsTaken };
}

function roomFor({ max, live, nameIsTaken }: Counts): Result<null, DomainError> {
  if (live >= max) return refuse({ code: 'container_limit_reached', max });
  return nameIsTaken ? refuse({ code: 'name_taken' }) : ok(null);
}
