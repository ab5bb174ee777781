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
  const { maxContainers: max } = await tierOf(tx, caller);
  if ((await tx.containers.countLive(caller.user.id)) >= max) {
    return refuse({ code: 'container_limit_reached', max });
  }
  return (await tx.containers.nameInUse(caller.user.id, name)) ? refuse({ code: 'name_taken' }) : ok(null);
}

/** Whether another container fits beside the owner's kept deleted ones. Call it with the owner's row locked. */
export async function checkKeptLimit(tx: Repositories, caller: Caller): Promise<Result<null, DomainError>> {
  const ownerId = caller.user.id;
  const max = mostWithKept((await tierOf(tx, caller)).maxContainers);
  const count = (await tx.containers.countLive(ownerId)) + (await tx.deletedContainers.countKept(ownerId));
  if (count < max) return ok(null);
  const names = (await tx.deletedContainers.listRestorable(ownerId)).map(({ name }) => name);
  return refuse({ code: 'kept_limit_reached', max, names });
}
