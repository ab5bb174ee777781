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
import { accounts } from '../accounts.ts';
import { guard } from '../guard.ts';
import { guests } from '../guests.ts';
import { passkeySignIn } from '../passkey-sign-in.ts';
import { passkeys } from '../passkeys.ts';
import { passwords } from '../password.ts';
import { profiles } from '../profile.ts';
import { screenLock } from '../screen-lock.ts';
import { secondFactor } from '../second-factor.ts';
import { signIn } from '../sign-in.ts';
import type { ComposeOptions, Ports } from './compose.ts';

export type Identity = { readonly accounts: ReturnType<typeof accounts>; readonly routes: readonly Routes[] };

/** Everything about who somebody is: accounts, signing in, second factors, passkeys and the screen lock. */
export function identity({ storage, hasher, clock }: Ports, options: ComposeOptions): Identity {
  const { keys, secureCookie } = options;
  const slow = guard(storage, keys.throttle);
  const people = accounts({ storage, hasher, guard: slow });
  const second = secondFactor({ storage, guard: slow, codes: oneTimeCodes(), clock, keys: [keys.factors] });
  const passkeyDeps = {
    storage,
    ceremonies: passkeyCeremonies(),
    party: () => relyingPartyAt(options.publicUrl()),
  };
  const withPasskey = passkeySignIn({ ...passkeyDeps, guard: slow });
  return {
    accounts: people,
    routes: [
      authRoutes({
        accounts: people,
        guests: guests({ storage, guard: slow, clock }),
        signIn: signIn({ storage, hasher, guard: slow, refreshKey: keys.refresh }),
        secureCookie,
      }),
      authFactorRoutes({ secondFactor: second, passkeySignIn: withPasskey, secureCookie }),
      meRoutes({ profiles: profiles(storage), passwords: passwords({ storage, hasher, guard: slow }) }),
      mfaRoutes(second),
      passkeyRoutes(passkeys(passkeyDeps)),
      screenLockRoutes(screenLock({ storage, hasher })),
    ],
  };
}
