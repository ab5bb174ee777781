import { authRoutes } from '../../adapters/http/routes/auth.ts';
import { authFactorRoutes } from '../../adapters/http/routes/auth-factors.ts';
import { meRoutes } from '../../adapters/http/routes/me.ts';
import { mfaRoutes } from '../../adapters/http/routes/mfa.ts';
import { passkeyRoutes } from '../../adapters/http/routes/passkeys.ts';
import { screenLockRoutes } from '../../adapters/http/routes/screen-lock.ts';
import type { Routes } from '../../adapters/http/server.ts';
import { oneTimeCodes } from '../../adapters/security/one-time-codes.ts';
import { passkeyCeremonies } from '../../adapters/security/passkey-ceremonies.ts';
import { relyingPartyAt } from '../../domain/passkey.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PasswordHasher } from '../../ports/password-hasher.ts';
import type { Storage } from '../../ports/repositories.ts';
import { type Accounts, accounts } from '../accounts.ts';
import { confirmation } from '../confirmation.ts';
import { factorCodes } from '../factor-codes.ts';
import { type Guard, guard } from '../guard.ts';
import { guests } from '../guests.ts';
import { hashing } from '../hashing.ts';
import { passkeySignIn } from '../passkey-sign-in.ts';
import { passkeys } from '../passkeys.ts';
import { passwords } from '../password.ts';
import { profiles } from '../profile.ts';
import type { RequestLimits } from '../request-limits.ts';
import { screenLock } from '../screen-lock.ts';
import { secondFactor } from '../second-factor.ts';
import { signIn } from '../sign-in.ts';
import type { Keys } from './keys.ts';

export type IdentityPorts = {
  readonly storage: Storage;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
  readonly limits: RequestLimits;
};

export type Identity = {
  readonly accounts: Accounts;
  readonly guard: Guard;
  readonly routes: readonly Routes[];
  /** Encrypts with the present key what an earlier one encrypted; how many no key opens. */
  readonly reseal: () => Promise<number>;
};

/** Everything about who somebody is: accounts, signing in, second factors, passkeys and the screen lock. */
export function identity(
  { storage, hasher, clock, limits }: IdentityPorts,
  options: { readonly keys: Keys; readonly secureCookie: boolean },
  publicUrl: () => string,
): Identity {
  const { keys, secureCookie } = options;
  const newest = () => keys.live().map(({ throttle }) => throttle)[0] ?? Buffer.alloc(0);
  const slow = guard(storage, newest);
  const inTurn = hashing({ hasher, limits });
  const people = accounts({ storage, hasher, hashing: inTurn, guard: slow });
  const ofFactors = {
    storage,
    guard: slow,
    codes: oneTimeCodes(),
    clock,
    keys: () => keys.known().map(({ factors }) => factors),
    limits,
  };
  const codes = factorCodes(ofFactors);
  const confirmed = confirmation({ storage, hashing: inTurn, guard: slow, codes });
  const second = secondFactor({ ...ofFactors, factorCodes: codes, confirmed });
  const passkeyDeps = {
    storage,
    ceremonies: passkeyCeremonies(),
    party: () => relyingPartyAt(publicUrl()),
  };
  const withPasskey = passkeySignIn({ ...passkeyDeps, guard: slow });
  return {
    accounts: people,
    guard: slow,
    reseal: second.reseal,
    routes: [
      authRoutes({
        accounts: people,
        guests: guests({ storage, guard: slow, clock }),
        signIn: signIn({
          storage,
          hashing: inTurn,
          guard: slow,
          refreshKeys: () => keys.live().map(({ refresh }) => refresh),
        }),
        secureCookie,
      }),
      authFactorRoutes({ secondFactor: second, passkeySignIn: withPasskey, secureCookie }),
      meRoutes({
        profiles: profiles(storage, limits),
        passwords: passwords({ storage, hashing: inTurn, guard: slow }),
        confirmed,
      }),
      mfaRoutes(second),
      passkeyRoutes(passkeys({ ...passkeyDeps, confirmed })),
      screenLockRoutes(screenLock({ storage, hashing: inTurn })),
    ],
  };
}
