import type { Caller } from '../../domain/caller.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Tier } from '../../domain/resources.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/repositories.ts';

/** The caller's tier; a user without one is a fault of ours. */
export async function tierOf(
  { catalogue }: Pick<Repositories, 'catalogue'>,
  { user }: Caller,
): Promise<Tier> {
  const tier = await catalogue.tier(user.tier);
  if (tier === null) throw new Error(`user ${user.id} has unknown tier ${user.tier}`);
  return tier;
}

/** Whether one more container of that name fits. Call it with the owner's row locked, so that it stays true. */
export async function roomFor(
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
