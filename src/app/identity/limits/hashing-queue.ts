import { fairTurns } from '../../../concurrency/slot-queue.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { PasswordHasher } from '../../../ports/identity/password-hasher.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { RequestLimits } from './request-limits.ts';

/** Node.js has four threads: one stays free for files and names. */
const MAX_RUNNING = 3;
/** A page sends one at a time; this many may come at once from users behind one address. */
const MAX_WAITING = 64;
const RETRY_AFTER_SECONDS = 2;

/** A user's password and passcode hashes a minute: typing one takes some seconds. */
export const HASHES_PER_USER = 30;
/** The same for all users behind one address who are not signed in. */
export const HASHES_PER_ADDRESS = 120;

/** Who is charged for a hash: the signed-in user, else the address. */
export type Payer = { readonly userId: string } | { readonly ipAddress: string };

export type Hashing = ReturnType<typeof hashing>;

export type HashingDeps = {
  readonly hasher: PasswordHasher;
  readonly limits: Pick<RequestLimits, 'admit'>;
};

/**
 * The queue for the password hasher. A hash costs 19 MiB and a thread for tens of milliseconds, so payers take turns,
 * each with one at a time and a limit per minute.
 */
export function hashing({ hasher, limits }: HashingDeps) {
  const turns = fairTurns({ maxRunning: MAX_RUNNING, maxWaiting: MAX_WAITING });

  return {
    /** Waits for the payer's turn, calls `refused`, and unless that refuses, hashes in `work`. */
    async inTurn<T>(
      payer: Payer,
      refused: () => Promise<DomainError | null>,
      work: (hasher: PasswordHasher) => Promise<T>,
    ): AsyncResult<T> {
      const { key, perMinute } = accountOf(payer);
      const turn = turns.run(key, async (): AsyncResult<T> => {
        const error = await refused();
        if (error !== null) return refuse(error);
        const admitted = limits.admit(key, perMinute);
        return admitted.ok ? ok(await work(hasher)) : admitted;
      });
      return (await turn) ?? refuse({ code: 'rate_limited', retryAfterSeconds: RETRY_AFTER_SECONDS });
    },
  };
}

const accountOf = (payer: Payer): { key: string; perMinute: number } =>
  'userId' in payer
    ? { key: `hash user ${payer.userId}`, perMinute: HASHES_PER_USER }
    : { key: `hash address ${addressGroup(payer.ipAddress)}`, perMinute: HASHES_PER_ADDRESS };

/** For work without a check. */
export const unasked = async (): Promise<null> => null;
