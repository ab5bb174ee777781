import { deviceSignInRoutes } from '../../../adapters/http/routes/identity/device-sign-in.ts';
import { passkeyRoutes } from '../../../adapters/http/routes/identity/passkeys.ts';
import { meRoutes } from '../../../adapters/http/routes/identity/profile.ts';
import { screenLockRoutes } from '../../../adapters/http/routes/identity/screen-lock.ts';
import { mfaRoutes } from '../../../adapters/http/routes/identity/second-factor.ts';
import { authRoutes } from '../../../adapters/http/routes/identity/sign-in.ts';
import { authFactorRoutes } from '../../../adapters/http/routes/identity/sign-in-factors.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import { passkeyCeremonies } from '../../../adapters/security/passkey-ceremonies.ts';
import { oneTimeCodes } from '../../../adapters/security/totp-generator.ts';
import { relyingPartyAt } from '../../../domain/identity/passkey.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { OpenIdProvider } from '../../../ports/identity/openid/openid-provider.ts';
import type { PasswordHasher } from '../../../ports/identity/password-hasher.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import { passkeys } from '../../identity/account/passkeys.ts';
import { passwords } from '../../identity/account/password.ts';
import { profiles } from '../../identity/account/profile.ts';
import { screenLock } from '../../identity/account/screen-lock.ts';
import { type LoginThrottle, loginThrottle } from '../../identity/auth/login-throttle.ts';
import { hashing } from '../../identity/limits/hashing-queue.ts';
import type { RequestLimits } from '../../identity/limits/request-limits.ts';
import { deviceSignIns } from '../../identity/sign-in/device-sign-in.ts';
import { guests } from '../../identity/sign-in/guest-sign-in.ts';
import { passkeySignIn } from '../../identity/sign-in/passkey-sign-in.ts';
import {
  provePassword,
  type RequireRecentSignIn,
  requireRecentSignIn,
} from '../../identity/sign-in/reauthentication.ts';
import { type Registration, registration } from '../../identity/sign-in/registration.ts';
import { secondFactor } from '../../identity/sign-in/second-factor.ts';
import { factorCodes } from '../../identity/sign-in/second-factor-codes.ts';
import { signIn } from '../../identity/sign-in/sign-in.ts';
import type { Keys } from '../keys/keys.ts';
import { wireOpenId } from './wire-openid.ts';
import { peopleRoutes } from './wire-people.ts';

export type IdentityPorts = {
  readonly storage: Storage;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly limits: RequestLimits;
  readonly openIdProvider: OpenIdProvider | null;
};

export type Identity = {
  readonly registration: Registration;
  readonly throttle: LoginThrottle;
  readonly confirmed: RequireRecentSignIn;
  readonly routes: readonly Routes[];
  /** Re-encrypts with the present key. Returns the number of secrets that no key decrypts. */
  readonly reseal: () => Promise<number>;
};

/** The proofs of an identity: the password, a second factor, and a recent sign-in. */
function proofs({ storage, hasher, clock, limits }: IdentityPorts, keys: Keys) {
  const throttle = loginThrottle(storage, () => keys.live()[0]?.throttle ?? Buffer.alloc(0));
  const inTurn = hashing({ hasher, limits });
  const factorKeys = () => keys.known().map(({ factors }) => factors);
  const ofFactors = { storage, throttle, codes: oneTimeCodes(), clock, keys: factorKeys, limits };
  const codes = factorCodes(ofFactors);
  const confirmed = requireRecentSignIn({ storage, hashing: inTurn, throttle, codes });
  const second = secondFactor({ ...ofFactors, factorCodes: codes, confirmed });
  return { throttle, hashing: inTurn, factorKeys, confirmed, second };
}

/** Accounts, signing in, second factors, passkeys and the screen lock. */
export function wireIdentity(
  ports: IdentityPorts,
  options: { readonly keys: Keys; readonly secureCookie: boolean; readonly log: Pick<Logger, 'warn'> },
  publicUrl: () => string,
): Identity {
  const { storage, hasher, clock, limits, openIdProvider: provider } = ports;
  const { keys, secureCookie, log } = options;
  const { throttle, hashing: inTurn, factorKeys, confirmed, second } = proofs(ports, keys);
  const people = registration({ storage, hasher, hashing: inTurn, throttle });
  const proven = provePassword({ storage, hashing: inTurn, throttle });
  const ofPeople = {
    storage,
    hashing: inTurn,
    throttle,
    confirmed,
    provePassword: proven,
    clock,
    monotonicMs: ports.monotonicMs,
  };
  const passkeyDeps = {
    storage,
    ceremonies: passkeyCeremonies(),
    party: () => relyingPartyAt(publicUrl()),
  };
  const atProvider = wireOpenId(
    { storage, throttle, provider, keys: factorKeys, confirmed, log },
    secureCookie,
    publicUrl,
  );
  const refreshKeys = () => keys.live().map(({ refresh }) => refresh);
  return {
    registration: people,
    throttle,
    confirmed,
    reseal: second.reseal,
    routes: [
      authRoutes({
        accounts: people,
        guests: guests({ storage, throttle, clock }),
        signIn: signIn({ storage, hashing: inTurn, throttle, refreshKeys }),
        providerSignIn: atProvider.signIn,
        providerSignOut: atProvider.signOut,
        secureCookie,
      }),
      ...atProvider.routes,
      deviceSignInRoutes({
        deviceSignIns: deviceSignIns({ storage, throttle, confirmed }),
        secureCookie,
        publicUrl,
      }),
      authFactorRoutes({
        secondFactor: second,
        passkeySignIn: passkeySignIn({ ...passkeyDeps, throttle }),
        secureCookie,
      }),
      meRoutes({
        profiles: profiles(storage, limits),
        passwords: passwords({ storage, hashing: inTurn, throttle, confirmed }),
        confirmed,
      }),
      mfaRoutes(second),
      passkeyRoutes(passkeys({ ...passkeyDeps, confirmed })),
      screenLockRoutes(screenLock({ storage, hashing: inTurn })),
      ...peopleRoutes(ofPeople, secureCookie, publicUrl),
    ],
  };
}
