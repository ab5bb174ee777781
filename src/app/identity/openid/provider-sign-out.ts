import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import type { ProviderSession } from '../../../domain/identity/openid/connected-identity.ts';
import { LOGOUT_TOKEN_MINUTES } from '../../../domain/identity/openid/logout-token.ts';
import { PROVIDER_SIGN_IN_MINUTES } from '../../../domain/identity/openid/provider-sign-in.ts';
import { REVOKED_FOR } from '../../../domain/identity/session.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { AsyncResult } from '../../async-result.ts';
import { decrypt } from '../auth/encryption.ts';
import { sha256 } from '../auth/secrets.ts';
import { endSession } from '../sign-in/sign-in.ts';
import type { ProviderDeps } from './provider-deps.ts';

export type SignOutDeps = Pick<ProviderDeps, 'storage' | 'provider' | 'keys'> & {
  /** Where the provider sends the browser after a sign-out; it must know this address. */
  readonly signedOutUrl: () => string;
  readonly log: Pick<Logger, 'warn'>;
};

/** Who signs out does not wait for a provider that is down. */
const SIGN_OUT_MS = 1_000;

export type ProviderSignOut = ReturnType<typeof providerSignOut>;

/** The end of sessions, here and at the provider. */
export const providerSignOut = (deps: SignOutDeps) => ({
  /**
   * Where the browser may sign out of the provider, too; null for a session that no provider opened, and when the
   * provider does not respond within a second. The session may have ended. Never throws: who signs out here is signed
   * out.
   */
  urlOf: (caller: Caller) => urlOf(deps, caller),

  /**
   * Ends the sessions of the person, or of the provider's session, that a logout token names. Each token works once.
   * Returns how many ended.
   */
  byProvider: (logoutToken: string, origin: RequestOrigin) => byProvider(deps, logoutToken, origin),
});

async function urlOf(deps: SignOutDeps, { credential }: Caller): Promise<URL | null> {
  if (deps.provider === null || credential.kind !== 'login') return null;
  const waited = new AbortController();
  try {
    const session = await deps.storage.repositories.providerSessions.find(credential.sessionId);
    if (session === null) return null;
    const found = deps.provider.signOutUrl(hintOf(deps, session), deps.signedOutUrl());
    return await Promise.race([found, delay(SIGN_OUT_MS, null, { signal: waited.signal })]);
  } catch (err) {
    deps.log.warn({ err }, "the address of the provider's sign-out cannot be found");
    return null;
  } finally {
    waited.abort();
  }
}

/** The stored ID token; null when it cannot be read: the provider then asks whom to sign out. */
function hintOf({ keys, log }: SignOutDeps, { sealedIdToken, subject }: ProviderSession): string | null {
  if (sealedIdToken === null) return null;
  try {
    return decrypt(keys(), sealedIdToken, subject)?.toString() ?? null;
  } catch (err) {
    log.warn({ err }, 'the stored ID token of a session has been changed');
    return null;
  }
}

async function byProvider(
  { storage, provider }: SignOutDeps,
  logoutToken: string,
  origin: RequestOrigin,
): AsyncResult<number> {
  if (provider === null) return refuse({ code: 'provider_not_set_up' });
  const stated = await provider.verifyLogoutToken(logoutToken);
  if (stated === 'unavailable') return refuse({ code: 'provider_unavailable' });
  if (stated === null) return refuse({ code: 'logout_token_rejected' });
  return await storage.inTransaction(async (tx): AsyncResult<number> => {
    const digest = sha256(JSON.stringify([stated.issuer, stated.tokenId]));
    const isNew = await tx.providerSessions.useLogoutToken(digest, LOGOUT_TOKEN_MINUTES);
    if (!isNew) return refuse({ code: 'logout_token_rejected' });
    await tx.providerSessions.noteSignOut(stated, PROVIDER_SIGN_IN_MINUTES);
    await tx.providerSignIns.endAll(stated);
    const ended = await tx.providerSessions.listOf(stated);
    for (const session of ended) await endSession(tx, session, REVOKED_FOR.providerSignedOut, origin);
    return ok(ended.length);
  });
}
