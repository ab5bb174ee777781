import { Refusal } from '../../../domain/errors.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import type { ProviderSession } from '../../../domain/identity/openid/connected-identity.ts';
import type { ProviderPurpose } from '../../../domain/identity/openid/provider-purpose.ts';
import type { ProviderRefusal } from '../../../domain/identity/openid/provider-refusal.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { ProviderFailure, Redeemed } from '../../../ports/identity/openid/openid-provider.ts';
import type {
  ArrivedProviderSignIn,
  StartedProviderSignIn,
} from '../../../ports/identity/openid/provider-sign-in-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { encrypt } from '../auth/encryption.ts';
import { sha256 } from '../auth/secrets.ts';
import { beginPendingSignIn, type PendingSignIn } from '../sign-in/pending-sign-in.ts';
import { accountDisabled, openProvenBefore, type SignedIn } from '../sign-in/sign-in.ts';
import { arrivalOf, enter, lockOwner, ownerOf } from './arrival.ts';
import { takeArrived } from './arrived.ts';
import { acceptInvitation, startAcceptance } from './invited-person.ts';
import { type Finish, newUsername } from './new-username.ts';
import {
  failedAtProvider,
  type ProviderDeps,
  providerRefusalOf,
  startAtProvider,
  type Turned,
} from './provider-deps.ts';

/** What the page does next: finish the sign-in, and go where it began. */
export type Arrived = {
  readonly id: string;
  readonly purpose: ProviderPurpose;
  readonly returnPath: string;
};

export type ProviderSignIn = ReturnType<typeof providerSignIn>;

/** Signing in by an OpenID provider, in three steps: start, the provider's answer, finish. */
export function providerSignIn(deps: ProviderDeps) {
  return {
    /** Text for the button; null when no provider is set up. */
    label: (): string | null => deps.provider?.label ?? null,

    /** Where the browser signs in. `browser`: the secret of its cookie. */
    start: (browser: string, returnPath: string | undefined, origin: RequestOrigin) =>
      startAtProvider(deps, { ...SIGN_IN, browser, returnPath }, origin),

    /** The same for somebody who accepts the invitation with this code. */
    startAcceptance: (code: string, browser: string, origin: RequestOrigin) =>
      startAcceptance(deps, code, browser, origin),

    /**
     * Verifies the provider's answer, which works once and in the browser that started. `search`: the query of the
     * address that the browser was sent to. Changes no account.
     */
    arrive: (browser: string | null, search: URLSearchParams, origin: RequestOrigin) =>
      arrive(deps, browser, search, origin),

    /**
     * Opens a session, or the second factor's step, as after the right password; makes the account first where an
     * invitation is accepted. Works once, except that a refused username leaves it open for another.
     */
    finish: (what: Finish, origin: RequestOrigin) => finish(deps, what, origin),
  };
}

const SIGN_IN = { purpose: 'sign_in', sessionId: null, invitationHash: null } as const;

const OF_FAILURE = {
  denied: 'provider_denied',
  rejected: 'provider_rejected',
  unavailable: 'provider_unavailable',
} as const satisfies Record<ProviderFailure, ProviderRefusal>;

async function arrive(
  deps: ProviderDeps,
  browser: string | null,
  search: URLSearchParams,
  origin: RequestOrigin,
): Promise<Result<Arrived, Turned>> {
  const { storage, provider, keys } = deps;
  if (provider === null) return refuse({ code: 'provider_not_set_up' });
  const state = search.get('state') ?? '';
  const started = await storage.repositories.providerSignIns.spend(sha256(state));
  if (started === null || browser === null || !sha256(browser).equals(started.browserHash)) {
    return await failed(deps, 'provider_sign_in_expired', origin);
  }
  const redeemed = await redeem(deps, state, started, search);
  if (typeof redeemed === 'string') return await failed(deps, OF_FAILURE[redeemed], origin);
  const { claims, idToken } = redeemed;
  const sealed = encrypt(keys(), Buffer.from(idToken), claims.subject);
  await storage.repositories.providerSignIns.arrive(started.id, claims, sealed);
  return ok({ id: started.id, purpose: started.purpose, returnPath: started.returnPath });
}

async function redeem(
  { provider, redirectUri }: ProviderDeps,
  state: string,
  { nonce, codeVerifier }: StartedProviderSignIn,
  search: URLSearchParams,
): Promise<Redeemed | ProviderFailure> {
  const url = new URL(redirectUri());
  url.search = search.toString();
  return (await provider?.redeem({ url, state, nonce, codeVerifier })) ?? 'unavailable';
}

const failed = async <T>(
  deps: ProviderDeps,
  code: ProviderRefusal,
  origin: RequestOrigin,
): Promise<Result<T, Turned>> =>
  await deps.storage.inTransaction(async (tx) => refuse(await failedAtProvider(deps, tx, code, origin)));

async function finish(
  deps: ProviderDeps,
  what: Finish,
  origin: RequestOrigin,
): AsyncResult<SignedIn | PendingSignIn> {
  const { inTransaction } = deps.storage;
  const named = await newUsername(deps, what, origin);
  if (!named.ok) return named;
  // By itself, so that no refusal rolls it back: it would work again.
  const arrived = await inTransaction((tx) => takeArrived(tx, what.id, what.browser));
  try {
    return await inTransaction((tx) =>
      open(deps, tx, arrived && { ...arrived, username: named.value }, origin),
    );
  } catch (error) {
    if (error instanceof Refusal) return await failed(deps, providerRefusalOf(error.error), origin);
    throw error;
  }
}

/** With the name of the account that it makes. */
type Named = ArrivedProviderSignIn & { readonly username: string | null };

/** A refusal stays recorded, and nothing is written before the last one. Throws a refusal to roll back. */
async function open(
  deps: ProviderDeps,
  tx: Repositories,
  arrived: Named | null,
  origin: RequestOrigin,
): AsyncResult<SignedIn | PendingSignIn> {
  const fail = async (code: ProviderRefusal) => refuse(await failedAtProvider(deps, tx, code, origin));
  if (arrived !== null && (await tx.providerSessions.wasSignedOut(arrived.claims, arrived.startedAt)))
    return await fail('provider_sign_in_expired');
  if (arrived?.purpose === 'invitation') return await acceptInvitation(deps, tx, arrived, origin);
  if (arrived?.purpose !== 'sign_in') return await fail('provider_sign_in_expired');
  const { claims, sealedIdToken, username } = arrived;
  const first = await arrivalOf(tx, claims);
  if (!first.ok) return await fail(first.error);
  const userId = ownerOf(first.value);
  const locked = await lockOwner(tx, first.value);
  // The owner may have disconnected it, or another first sign-in connected it, before the lock.
  const arrival = await arrivalOf(tx, claims);
  if (!arrival.ok) return await fail(arrival.error);
  if (arrival.value.kind !== first.value.kind || ownerOf(arrival.value) !== userId) {
    return await fail('provider_sign_in_expired');
  }
  const begun = await deps.throttle.begin(tx, { login: null, userId, origin, by: 'provider' });
  if (!begun.ok) return begun;
  if (locked !== null && isDisabled(locked.user, locked.now)) {
    const refusal = await begun.value.failed('disabled');
    return refuse(refusal.code === 'rate_limited' ? refusal : accountDisabled(locked));
  }
  const user = await enter(tx, arrival.value, { claims, username }, locked?.user ?? null, origin);
  await begun.value.passed();
  const { issuer, subject, sid, authTime } = claims;
  const session: ProviderSession = { issuer, subject, sid, sealedIdToken };
  const pending = await beginPendingSignIn(tx, user, session);
  return ok(pending ?? (await openProvenBefore(tx, user, origin, session, authTime)));
}
