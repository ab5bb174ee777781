import type { DomainError } from '../../errors.ts';
import { ok, type Result, refuse } from '../../result.ts';
import type { RequestOrigin } from '../caller.ts';
import type { User } from '../user.ts';
import { isDisabled } from './account-end.ts';

/** What happens to a deleted user's containers: a soft delete as usual, or a new owner. */
export type ContainerPlan =
  | { readonly kind: 'delete' }
  | { readonly kind: 'transfer'; readonly toUserId: string };

/**
 * The deletion of a user, recorded before its first step and continued by any process:
 *
 *   asked --containers deleted or transferred--> none left --> user deleted
 */
export type UserRemoval = {
  readonly userId: string;
  readonly plan: ContainerPlan;
  readonly requestedBy: string;
  readonly origin: RequestOrigin;
};

/** Facts at the time of the request. `plan`: null when the request has none. `newOwner`: of the containers. */
export type RemovalFacts = {
  readonly plan: ContainerPlan | null;
  readonly newOwner: User | null;
  readonly callerId: string;
  readonly otherAdmins: number;
  /** How many live containers the user has, agents included. */
  readonly containers: number;
  /** Whether another user's deletion, not complete, transfers containers to this one. */
  readonly isTransferTarget: boolean;
  readonly now: Date;
};

/** Whether the deletion may begin, and by which plan. */
export function decideRemoval(
  user: User,
  { plan, newOwner, callerId, otherAdmins, containers, isTransferTarget, now }: RemovalFacts,
): Result<ContainerPlan, DomainError> {
  if (user.id === callerId) return refuse({ code: 'own_account' });
  if (user.role === 'admin' && user.disabledAt === null && otherAdmins === 0) {
    return refuse({ code: 'last_administrator' });
  }
  if (isTransferTarget) return refuse({ code: 'user_receives_containers' });
  if (plan === null) return containers > 0 ? refuse({ code: 'user_has_containers' }) : ok({ kind: 'delete' });
  if (plan.kind === 'delete') return ok(plan);
  const mayOwn =
    newOwner !== null &&
    newOwner.id !== user.id &&
    !isDisabled(newOwner, now) &&
    newOwner.guestUntil === null;
  return mayOwn
    ? ok(plan)
    : refuse({ code: 'validation_failed', fields: { to: 'must be another user with an enabled account' } });
}

const MAX_NAME = 64;

/** The n-th name to try for a container whose new owner may use the first one already. */
export function transferName(name: string, n: number): string {
  const suffix = n === 1 ? '' : `-${n}`;
  return `${name.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}
