import type { DomainError } from '../../errors.ts';
import { isDisabled } from '../../identity/people/account-end.ts';
import type { User } from '../../identity/user.ts';
import { ok, type Result, refuse } from '../../result.ts';
import { type Container, nameFaults } from '../container.ts';
import { resourceFaults, type Tier } from '../resources.ts';

/** Facts at the time of the request, with the new owner's row locked. */
export type TransferFacts = {
  /** null when there is no such user. */
  readonly newOwner: User | null;
  readonly tier: Tier | null;
  readonly callerId: string;
  /** The new owner's live containers, with those that are being transferred to the same user. */
  readonly live: number;
  readonly nameInUse: boolean;
  readonly now: Date;
};

const refuseField = (field: 'to' | 'name', words: string): Result<never, DomainError> =>
  refuse({ code: 'validation_failed', fields: { [field]: words } });

/**
 * Whether an administrator may give the container to that user, under that name: within the limits of the new owner, and
 * never to the administrator who asks.
 */
export function decideTransfer(
  container: Pick<Container, 'ownerId' | 'resources'>,
  name: string,
  { newOwner, tier, callerId, live, nameInUse, now }: TransferFacts,
): Result<null, DomainError> {
  if (newOwner === null || isDisabled(newOwner, now) || newOwner.guestUntil !== null)
    return refuseField('to', 'must be a user with an enabled account');
  if (newOwner.id === container.ownerId) return refuseField('to', 'is the owner already');
  if (newOwner.id === callerId) return refuseField('to', 'must be somebody else than you');
  const misnamed = nameFaults(name);
  if (Object.keys(misnamed).length > 0) return refuse({ code: 'validation_failed', fields: misnamed });
  if (tier === null) throw new Error(`user ${newOwner.id} has an unknown tier`);
  if (live >= tier.maxContainers) return refuse({ code: 'container_limit_reached', max: tier.maxContainers });
  const tooLarge = Object.entries(resourceFaults(container.resources, tier));
  if (tooLarge.length > 0)
    return refuseField('to', `cannot have a container of this size: ${listed(tooLarge)}`);
  return nameInUse ? refuseField('name', `is already in use by ${newOwner.username}`) : ok(null);
}

const WORDS: Readonly<Record<string, string>> = {
  memoryMb: 'memory_mb',
  cpuMillicores: 'cpu_shares',
  diskMb: 'disk_mb',
};

const listed = (faults: readonly (readonly [string, string])[]): string =>
  faults.map(([key, words]) => `${WORDS[key] ?? key} ${words}`).join('; ');
