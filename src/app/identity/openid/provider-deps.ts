import type { DomainError } from '../../../domain/errors.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import type { ProviderPurpose } from '../../../domain/identity/openid/provider-purpose.ts';
import type { ProviderRefusal, ReturnRefusal } from '../../../domain/identity/openid/provider-refusal.ts';
import {
  PROVIDER_SIGN_IN_MINUTES,
  safeReturnPath,
} from '../../../domain/identity/openid/provider-sign-in.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { OpenIdProvider } from '../../../ports/identity/openid/openid-provider.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';

export type ProviderDeps = {
  readonly storage: Storage;
  readonly throttle: LoginThrottle;
  /** null: none is set up. */
  readonly provider: OpenIdProvider | null;
  /** Where the provider sends browsers back; it must know this address. */
  readonly redirectUri: () => string;
  /** The first encrypts; all decrypt. */
  readonly keys: () => readonly Buffer[];
};

/** Why a browser does not get to the provider, or comes back without an answer. */
export type Turned = Extract<DomainError, { readonly code: ReturnRefusal }>;

/** Each start is a row. */
const STARTS_A_MINUTE = 60;

export type ProviderStart = {
  readonly purpose: ProviderPurpose;
  /** See `NewProviderSignIn`. */
  readonly sessionId: string | null;
  readonly invitationHash: Buffer | null;
  /** The secret of the browser's cookie; nothing arrives without it. */
  readonly browser: string;
  readonly returnPath: string | undefined;
};

/** Records a sign-in that starts, and returns where the browser signs in. */
export async function startAtProvider(
  { storage, throttle, provider, redirectUri }: ProviderDeps,
  { purpose, sessionId, invitationHash, browser, returnPath }: ProviderStart,
  origin: RequestOrigin,
): Promise<Result<URL, Turned>> {
  if (provider === null) return refuse({ code: 'provider_not_set_up' });
  const taken = await throttle.consume('provider sign-in', origin, STARTS_A_MINUTE);
  if (!taken.ok) return taken;
  const secrets = { state: newSecret(), nonce: newSecret(), codeVerifier: newSecret() };
  // An invitation is for one person, and somebody else may be signed in there in this browser.
  const again = purpose === 'confirm' || purpose === 'invitation';
  const url = await provider.authorizationUrl({ ...secrets, redirectUri: redirectUri(), again });
  if (url === 'unavailable') return refuse({ code: 'provider_unavailable' });
  await storage.repositories.providerSignIns.insert(
    {
      stateHash: sha256(secrets.state),
      browserHash: sha256(browser),
      purpose,
      sessionId,
      invitationHash,
      nonce: secrets.nonce,
      codeVerifier: secrets.codeVerifier,
      returnPath: safeReturnPath(returnPath),
    },
    PROVIDER_SIGN_IN_MINUTES,
  );
  return ok(url);
}

const FAILURES_A_MINUTE = 20;
const COUNTED_AS = 'provider answer';

/** Whether it counts. What the provider itself refuses does not: its outage would shut everybody out. */
const COUNTS = {
  provider_sign_in_expired: true,
  provider_rejected: true,
  provider_email_unverified: true,
  provider_no_account: true,
  provider_account_exists: true,
  provider_other_address: true,
  provider_already_connected: true,
  provider_name_taken: true,
  provider_not_asked: true,
  link_not_valid: true,
  provider_denied: false,
  provider_unavailable: false,
} as const satisfies Record<ProviderRefusal, boolean>;

const isProviderRefusal = (code: string): code is ProviderRefusal => code in COUNTS;

/** The reason to record for a refusal that rolled a sign-in back: another request was faster, so the next try decides. */
export const providerRefusalOf = ({ code }: DomainError): ProviderRefusal =>
  isProviderRefusal(code) ? code : 'provider_sign_in_expired';

/** Counts a failure that is not recorded; refuses when there were too many. */
export const countFailure = ({ throttle }: Pick<ProviderDeps, 'throttle'>, origin: RequestOrigin) =>
  throttle.consume(COUNTED_AS, origin, FAILURES_A_MINUTE);

/**
 * Counts and records a failed sign-in, in the caller's transaction; returns the refusal, or the delay for too many. The
 * count is its own: any page can make a browser send bad answers, which must not block sign-ins by password.
 */
export async function failedAtProvider(
  { throttle }: Pick<ProviderDeps, 'throttle'>,
  tx: Repositories,
  code: ProviderRefusal,
  origin: RequestOrigin,
): Promise<Turned> {
  if (COUNTS[code]) {
    const taken = await throttle.consumeIn(tx, COUNTED_AS, origin, FAILURES_A_MINUTE);
    if (!taken.ok) return taken.error;
  }
  await tx.audit.append({ userId: null, action: 'login_failed', ...origin, details: code });
  return { code };
}
