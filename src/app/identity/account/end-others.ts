import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { REVOKED_OTHER_SESSIONS } from '../../../domain/identity/session.ts';
import type { Repositories } from '../../../ports/storage.ts';

/**
 * Ends the caller's other sessions, sign-ins that wait for a second factor, and enrolment codes, in the caller's
 * transaction with the user locked: somebody else may have opened them by a way in that was just changed or removed.
 */
export async function endOthersOf(
  tx: Repositories,
  { user, credential }: Caller,
  origin: RequestOrigin,
  reason: string = REVOKED_OTHER_SESSIONS,
): Promise<void> {
  const keepId = credential.kind === 'login' ? credential.sessionId : null;
  await tx.pending.endAll(user.id, 'second_factor');
  const ended = await tx.sessions.revokeOthers(user.id, keepId, reason);
  await tx.agentEnrolments.endAll(user.id);
  if (ended.length === 0) return;
  const action = 'sessions_revoked_others';
  await tx.audit.append({ userId: user.id, action, ...origin, details: keepId ?? '' });
}
