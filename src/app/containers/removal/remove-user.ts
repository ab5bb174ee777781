import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { type ContainerPlan, decideRemoval } from '../../../domain/identity/people/user-removal.ts';
import { REVOKED_FOR } from '../../../domain/identity/session.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { lockAdmins } from '../../identity/account/lock-caller.ts';
import type { Proofs, RequireRecentSignIn } from '../../identity/sign-in/reauthentication.ts';
import { orRollBack } from '../../transaction.ts';
import { continueRemoval, liveContainers, type RemovalDeps } from './continue-removal.ts';

export type RemoveUserDeps = RemovalDeps & { readonly confirmed: RequireRecentSignIn };

/** `isDone`: false while containers are being deleted; any process continues. */
export type Removed = { readonly userId: string; readonly isDone: boolean };

export type RemoveUser = ReturnType<typeof removeUser>;

/**
 * Deletes a user, in steps that survive a killed process. Who asks is an administrator with a confirmed sign-in. `plan`
 * says what becomes of the containers; null refuses where there are any. Asked again, it goes on by the first plan.
 */
export const removeUser =
  (deps: RemoveUserDeps) =>
  async (
    userId: string,
    plan: ContainerPlan | null,
    given: Proofs,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<Removed> => {
    if (!isUuid(userId)) return refuse({ code: 'user_not_found' });
    const sure = await deps.confirmed(caller, given, origin);
    if (!sure.ok) return sure;
    const begun = await begin(deps, userId, plan, caller, origin);
    if (!begun.ok) return begun;
    const going = continueRemoval(deps, userId);
    if (begun.value === 'delete') {
      // Stopping may take as long as the programs inside want: the answer does not wait.
      going.catch((err: unknown) => deps.log.warn({ err, userId }, 'the deletion of a user continues later'));
      return ok({ userId, isDone: false });
    }
    return ok({ userId, isDone: await going });
  };

/** Writes the decision and ends every way in; returns whether containers are left to delete. */
const begin = (
  { storage }: RemoveUserDeps,
  userId: string,
  plan: ContainerPlan | null,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<'delete' | 'other'> =>
  orRollBack(storage.inTransaction, async (tx) => {
    const admins = await lockAdmins(tx, caller);
    if (!admins.ok) return admins;
    const locked = (await tx.users.lock(userId)) ? await tx.users.lockForSignIn(userId) : null;
    if (locked === null) return refuse({ code: 'user_not_found' });
    const { user, now } = locked;
    const containers = (await liveContainers(tx, userId)).length;
    const before = await tx.userRemovals.find(userId);
    if (before !== null) return ok(remaining(before.plan, containers));
    const decided = decideRemoval(user, {
      plan,
      newOwner:
        plan?.kind === 'transfer' && isUuid(plan.toUserId) ? await tx.users.findById(plan.toUserId) : null,
      callerId: caller.user.id,
      otherAdmins: admins.value.filter((id) => id !== userId).length,
      containers,
      isTransferTarget: await tx.userRemovals.transfersTo(userId),
      now,
    });
    if (!decided.ok) return decided;
    await recordRemoval(tx, userId, decided.value, caller, origin);
    return ok(remaining(decided.value, containers));
  });

/** `delete` when containers are left to delete. */
const remaining = ({ kind }: ContainerPlan, containers: number): 'delete' | 'other' =>
  kind === 'delete' && containers > 0 ? 'delete' : 'other';

async function recordRemoval(
  tx: Repositories,
  userId: string,
  plan: ContainerPlan,
  { user: admin }: Caller,
  origin: RequestOrigin,
): Promise<void> {
  await tx.userRemovals.begin({ userId, plan, requestedBy: admin.id, origin });
  await tx.users.change(userId, { disabled: true });
  await tx.sessions.revokeOthers(userId, null, REVOKED_FOR.userDisabled);
  await tx.tokens.revokeAll(userId);
  await tx.agentEnrolments.endAll(userId);
  await tx.accountLinks.withdrawFor(userId);
  await tx.accountLinks.withdrawBy(userId);
  const to = plan.kind === 'transfer' ? { to: plan.toUserId } : {};
  const details = JSON.stringify({ id: userId, containers: plan.kind, ...to });
  await tx.audit.append({ userId: admin.id, action: 'user_deletion_started', ...origin, details });
}
