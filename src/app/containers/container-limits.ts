import type { Tier } from '../../domain/containers/resources.ts';
import { mostWithKept } from '../../domain/containers/volume-retention.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/storage.ts';

/** The caller's tier; a user without one is a fault. */
export async function tierOf(
  { catalogue }: Pick<Repositories, 'catalogue'>,
  { user }: Caller,
): Promise<Tier> {
  const tier = await catalogue.tier(user.tier);
  if (tier === null) throw new Error(`user ${user.id} has unknown tier ${user.tier}`);
  return tier;
}

/** Whether another container of that name fits. Call it with the owner's row locked. */
export async function checkContainerLimit(
  tx: Repositories,
  name: string,
  caller: Caller,
): Promise<Result<null, DomainError>> {
  return roomFor(await countsOf(tx, name, caller));
}

/** The same, and whether it fits beside the owner's kept deleted ones. */
export async function checkNewContainer(
  tx: Repositories,
  name: string,
  caller: Caller,
): Promise<Result<null, DomainError>> {
  const ownerId = caller.user.id;
  const [known, kept] = await Promise.all([
    countsOf(tx, name, caller),
    tx.deletedContainers.countKept(ownerId),
  ]);
  const room = roomFor(known);
  if (!room.ok) return room;
  const max = mostWithKept(known.max);
  if (known.live + kept < max) return ok(null);
  const names = (await tx.deletedContainers.listRestorable(ownerId)).map((one) => one.name);
  return refuse({ code: 'kept_limit_reached', max, names });
}

type Counts = { readonly max: number; readonly live: number; readonly nameIsTaken: boolean };

async function countsOf(tx: Repositories, name: string, caller: Caller): Promise<Counts> {
  const ownerId = caller.user.id;
  const [{ maxContainers: max }, live, nameIsTaken] = await Promise.all([
    tierOf(tx, caller),
    tx.containers.countLive(ownerId),
    tx.containers.nameInUse(ownerId, name),
  ]);
  return { max, live, nameIsTaken };
}

function roomFor({ max, live, nameIsTaken }: Counts): Result<null, DomainError> {
  if (live >= max) return refuse({ code: 'container_limit_reached', max });
  return nameIsTaken ? refuse({ code: 'name_taken' }) : ok(null);
}
