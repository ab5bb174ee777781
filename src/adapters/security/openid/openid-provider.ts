import { createRemoteJWKSet } from 'jose';
import * as oidc from 'openid-client';
import type { ProviderClaims } from '../../../domain/identity/openid/provider-sign-in.ts';
import type {
  OpenIdProvider,
  ProviderFailure,
  Redeemed,
} from '../../../ports/identity/openid/openid-provider.ts';
import type { Logger } from '../../../ports/logger.ts';
import { verifyLogoutToken } from './logout-token.ts';

export type OpenIdSettings = {
  /** https, or http on a loopback address. */
  readonly issuer: string;
  readonly clientId: string;
  /** null for a public client. */
  readonly clientSecret: string | null;
  readonly label: string;
  readonly scopes: readonly string[];
};

const TIMEOUT_SECONDS = 10;
/** A sign-in at the provider that is older is asked for again. */
const GREATEST_AGE_SECONDS = 30 * 86_400;
/** Providers change their metadata rarely; their keys are fetched when an unknown one is used. */
const METADATA_MS = 3_600_000;

type Found = { readonly config: oidc.Configuration; readonly keys: ReturnType<typeof createRemoteJWKSet> };

/** Discovers the provider when it is first needed, and again after a failure, so that it never stops the service. */
function discovery(settings: OpenIdSettings, log: Pick<Logger, 'warn'>): () => Promise<Found | null> {
  let known: { readonly found: Promise<Found>; readonly untilMs: number } | null = null;

  return async () => {
    if (known === null || performance.now() > known.untilMs) {
      known = { found: found(settings), untilMs: performance.now() + METADATA_MS };
    }
    try {
      return await known.found;
    } catch (err) {
      known = null;
      log.warn({ err }, 'the OpenID provider cannot be discovered');
      return null;
    }
  };
}

export function openIdProvider(settings: OpenIdSettings, log: Pick<Logger, 'warn'>): OpenIdProvider {
  const discover = discovery(settings, log);

  return {
    label: settings.label,

    async authorizationUrl({ redirectUri, state, nonce, codeVerifier, again }) {
      const at = await discover();
      if (at === null) return 'unavailable';
      return oidc.buildAuthorizationUrl(at.config, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        // With a greatest age, the ID token must say when the person signed in.
        ...(again ? { prompt: 'login', max_age: '0' } : { max_age: String(GREATEST_AGE_SECONDS) }),
      });
    },

    async redeem({ url, state, nonce, codeVerifier }) {
      const at = await discover();
      if (at === null) return 'unavailable';
      try {
        return await redeemed(at.config, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
      } catch (err) {
        log.warn({ err }, "the OpenID provider's answer was not accepted");
        return failureOf(err);
      }
    },

    async signOutUrl(idToken, returnUrl) {
      const at = await discover();
      if (at?.config.serverMetadata().end_session_endpoint === undefined) return null;
      return oidc.buildEndSessionUrl(at.config, {
        post_logout_redirect_uri: returnUrl,
        ...(idToken === null ? {} : { id_token_hint: idToken }),
      });
    },

    async verifyLogoutToken(token) {
      const at = await discover();
      if (at === null) return 'unavailable';
      return await verifyLogoutToken(token, at.config, at.keys, log);
    },
  };
}

async function found({ issuer, clientId, clientSecret }: OpenIdSettings): Promise<Found> {
  const server = new URL(issuer);
  const config = await oidc.discovery(server, clientId, undefined, authenticationBy(clientSecret), {
    timeout: TIMEOUT_SECONDS,
    // The signature of ID tokens is verified, too, although they come from the provider itself.
    execute: [
      oidc.enableNonRepudiationChecks,
      ...(server.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
    ],
  });
  const { jwks_uri: keys } = config.serverMetadata();
  if (keys === undefined) throw new Error('the OpenID provider publishes no keys');
  return { config, keys: createRemoteJWKSet(new URL(keys), { timeoutDuration: TIMEOUT_SECONDS * 1000 }) };
}

/** The way that the provider supports; `client_secret_basic` is the standard's default. */
function authenticationBy(secret: string | null): oidc.ClientAuth {
  if (secret === null) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = supported.includes('client_secret_basic') ? basic : post;
    return chosen(server, client, body, headers);
  };
}

async function redeemed(
  config: oidc.Configuration,
  url: URL,
  checks: oidc.AuthorizationCodeGrantChecks,
): Promise<Redeemed> {
  const tokens = await oidc.authorizationCodeGrant(config, url, checks);
  const claims = tokens.claims();
  if (claims === undefined || tokens.id_token === undefined) throw new Error('there is no ID token');
  const complete = claims['email'] !== undefined && claims['email_verified'] !== undefined;
  const canAsk = config.serverMetadata().userinfo_endpoint !== undefined;
  const more = complete || !canAsk ? {} : await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
  return { claims: toClaims({ ...more, ...claims }, addressOf(claims, more)), idToken: tokens.id_token };
}

type Statement = Readonly<Record<string, unknown>>;

/** Address and verification from one statement: one of another address says nothing about this one. */
const addressOf = (idToken: Statement, more: Statement): Pick<ProviderClaims, 'email' | 'emailVerified'> => {
  const { email, email_verified: verified } = more['email'] === undefined ? idToken : more;
  return { email: textOf(email), emailVerified: verified === true };
};

type TokenClaims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const toClaims = (
  claims: TokenClaims,
  address: Pick<ProviderClaims, 'email' | 'emailVerified'>,
): ProviderClaims => ({
  ...address,
  issuer: claims.iss,
  subject: claims.sub,
  username: textOf(claims['preferred_username']),
  sid: textOf(claims['sid']),
  authTime: typeof claims['auth_time'] === 'number' ? new Date(claims['auth_time'] * 1000) : null,
});

const UNAVAILABLE: ReadonlySet<unknown> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

function failureOf(err: unknown): ProviderFailure {
  if (err instanceof oidc.AuthorizationResponseError) return 'denied';
  if (err instanceof oidc.ResponseBodyError && err.status >= 500) return 'unavailable';
  // What `fetch` throws for a connection that fails.
  if (err instanceof TypeError && err.message === 'fetch failed') return 'unavailable';
  return UNAVAILABLE.has((err as { code?: unknown }).code) ? 'unavailable' : 'rejected';
}
