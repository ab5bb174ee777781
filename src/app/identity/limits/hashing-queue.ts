import { fairTurns } from '../../../concurrency/slot-queue.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { PasswordHasher } from '../../../ports/identity/password-hasher.ts';
import type { RequestLimits } from './request-limits.ts';

/** The thread pool of Node.js has four: one stays for files and names. */
const MAX_RUNNING = 3;
/** A page sends one at a time; this many may arrive at once from the people behind one address. */
const MAX_WAITING = 64;
const RETRY_AFTER_SECONDS = 2;

/** Passwords and passcodes of one user that are hashed in a minute: a person types one in a few seconds. */
export const HASHES_PER_USER = 30;
/** The same for the people behind one address who are not signed in yet. */
export const HASHES_PER_ADDRESS = 120;

/** Who is charged for a hash: the user who is signed in, else the address. */
export type Payer = { readonly userId: string } | { readonly ipAddress: string };

export type Hashing = ReturnType<typeof hashing>;

export type HashingDeps = {
  readonly hasher: PasswordHasher;
  readonly limits: Pick<RequestLimits, 'admit'>;
};

/**
 * The way to the password hasher. A hash costs 19 MiB and a thread for tens of milliseconds, so each payer has one
 * at a time and so many in a minute, and the payers take turns.
 */
export function hashing({ hasher, limits }: HashingDeps) {
  const turns = fairTurns({ maxRunning: MAX_RUNNING, maxWaiting: MAX_WAITING });

  return {
    /** Waits for the payer's turn. Then `refused` is asked, and only if it has nothing against it `work` hashes. */
    async inTurn<T>(
      payer: Payer,
      refused: () => Promise<DomainError | null>,
      work: (hasher: PasswordHasher) => Promise<T>,
    ): Promise<Result<T, DomainError>> {
      const { key, perMinute } = accountOf(payer);
      const turn = turns.run(key, async (): Promise<Result<T, DomainError>> => {
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

/** Nothing is asked before this one. */
export const unasked = async (): Promise<null> => null;
