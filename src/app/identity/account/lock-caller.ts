import type { Caller } from '../../../domain/identity/caller.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { sessionEnd } from '../../../domain/identity/session.ts';
import { tokenStillGood } from '../../../domain/identity/token.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { SessionWithUser } from '../../../ports/identity/session-repository.ts';
import type { InTransaction, Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';

/**
 * Locks the caller's user until the transaction ends; refused when the credential ended since the request was admitted.
 * Each use case that creates a credential calls it first. A reset locks the user too, so none is created after the reset.
 */
export async function lockCaller(tx: Repositories, { user, credential }: Caller): AsyncResult<null> {
  if (!(await tx.users.lock(user.id))) return refuse({ code: 'unauthorized' });
  switch (credential.kind) {
    case 'login':
      return (await active(tx, credential.sessionId)) === null ? refuse({ code: 'unauthorized' }) : ok(null);
    case 'api_token': {
      const [found] = await tx.tokens.findAllByIdWithUser([credential.tokenId]);
      const isGood = found !== undefined && tokenStillGood(found.token, found.user, found.now);
      return isGood ? ok(null) : refuse({ code: 'api_token_rejected' });
    }
    case 'ssh_key': {
      const keys = await tx.sshKeys.listOwned(user.id);
      return keys.some(({ id }) => id === credential.keyId) ? ok(null) : refuse({ code: 'unauthorized' });
    }
  }
}

/** Runs `work` in a transaction that has locked the caller; it is rolled back when the work refuses. */
export const withLockedCaller = <T>(
  inTransaction: InTransaction,
  caller: Caller,
  work: (tx: Repositories) => AsyncResult<T>,
): AsyncResult<T> =>
  orRollBack(inTransaction, async (tx) => {
    const present = await lockCaller(tx, caller);
    return present.ok ? await work(tx) : present;
  });

/**
 * The same for an administrator's act on other accounts, which outlasts the session. Locks all administrators, in one
 * order, so that two acts never deadlock; returns their ids.
 */
export async function lockAdmins(tx: Repositories, caller: Caller): AsyncResult<readonly string[]> {
  const admins = await tx.users.lockAdmins();
  if (!admins.includes(caller.user.id)) return refuse({ code: 'not_authorized' });
  const present = await lockCaller(tx, caller);
  return present.ok ? ok(admins) : present;
}

async function active({ sessions }: Repositories, sessionId: string): Promise<SessionWithUser | null> {
  const found = await sessions.findWithUser(sessionId);
  if (found === null || isDisabled(found.user, found.now)) return null;
  return sessionEnd(found.session, found.now, found.idleMinutes) === null ? found : null;
}
