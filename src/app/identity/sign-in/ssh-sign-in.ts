import type { DomainError } from '../../../domain/errors.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { refuse } from '../../../domain/result.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import type { Authenticated } from '../auth/verified-credential.ts';

export type SshSignInDeps = {
  readonly storage: Storage;
  readonly authenticator: Pick<Authenticator, 'bySshKey'>;
  readonly throttle: LoginThrottle;
  readonly metrics: Pick<Metrics, 'authenticated'>;
};

export type SshSignIn = ReturnType<typeof sshSignIn>;

/** Signs in with SSH keys whose signature was verified. A failure counts like a wrong password of that address. */
export function sshSignIn({ storage, authenticator, throttle, metrics }: SshSignInDeps) {
  const attemptOf = (userId: string | null, origin: RequestOrigin) =>
    ({ login: null, userId, origin, by: 'SSH key' }) as const;

  async function failed(
    userId: string | null,
    origin: RequestOrigin,
    wrong?: 'disabled',
  ): AsyncResult<never> {
    const refusal = await storage.inTransaction(async (tx) => {
      const begun = await throttle.begin(tx, attemptOf(userId, origin));
      return begun.ok ? await begun.value.failed(wrong) : begun.error;
    });
    metrics.authenticated('ssh_key', refusal.code);
    return refuse(refusal);
  }

  return {
    /** Whether this address has failed too often, checked before any key. */
    refused: (origin: RequestOrigin): Promise<DomainError | null> =>
      throttle.refused(attemptOf(null, origin)),

    /** The caller of a proven key; null when no account has it. Records a disabled account's attempt. */
    async byKey(fingerprint: string, origin: RequestOrigin): AsyncResult<Authenticated | null> {
      const found = await storage.repositories.sshKeys.findByFingerprint(fingerprint);
      if (found === null) return { ok: true, value: null };
      if (isDisabled(found.user, found.now)) return await failed(found.user.id, origin, 'disabled');
      const signedIn = await authenticator.bySshKey(found.key.id);
      metrics.authenticated('ssh_key', signedIn.ok ? 'ok' : signedIn.error.code);
      return signedIn;
    },

    /** Counts and records a connection whose keys no account has. Once each: a client may have several keys. */
    unknownKey: (origin: RequestOrigin): AsyncResult<never> => failed(null, origin),
  };
}
