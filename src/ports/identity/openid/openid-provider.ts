import type { LogoutStatement } from '../../../domain/identity/openid/logout-token.ts';
import type { ProviderClaims } from '../../../domain/identity/openid/provider-sign-in.ts';

/** The secrets of one sign-in. The provider sees the state, the nonce and a digest of the verifier. */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly codeVerifier: string };

export type AuthorizationRequest = SignInSecrets & {
  readonly redirectUri: string;
  /** Asks the provider to let the person sign in again. */
  readonly again: boolean;
};

/** `url`: the one to which the provider sent the browser. */
export type AuthorizationAnswer = SignInSecrets & { readonly url: URL };

export type Redeemed = { readonly claims: ProviderClaims; readonly idToken: string };

/** `denied`: by the provider or the person. `rejected`: the answer is not valid. */
export type ProviderFailure = 'denied' | 'rejected' | 'unavailable';

/** An OpenID provider. It may be down at any time. */
export interface OpenIdProvider {
  /** For "Sign in with …". */
  readonly label: string;
  /** Where the browser signs in. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL | 'unavailable'>;
  /** Exchanges the code; verifies issuer, signature, audience, times and nonce of the ID token. */
  redeem(answer: AuthorizationAnswer): Promise<Redeemed | ProviderFailure>;
  /** Where the browser signs out; null when the provider offers none, or is down. */
  signOutUrl(idToken: string | null, returnUrl: string): Promise<URL | null>;
  /** null for a token that is not valid. */
  verifyLogoutToken(token: string): Promise<LogoutStatement | 'unavailable' | null>;
}
