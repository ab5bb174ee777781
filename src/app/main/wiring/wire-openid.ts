import { identityRoutes } from '../../../adapters/http/routes/identity/openid/identities.ts';
import { providerSignInRoutes } from '../../../adapters/http/routes/identity/openid/provider-sign-in.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import { type ConnectedDeps, connectedIdentities } from '../../identity/openid/connected-identities.ts';
import { type ProviderSignIn, providerSignIn } from '../../identity/openid/provider-sign-in.ts';
import {
  type ProviderSignOut,
  providerSignOut,
  type SignOutDeps,
} from '../../identity/openid/provider-sign-out.ts';

export type OpenIdSignIn = {
  readonly signIn: ProviderSignIn;
  readonly signOut: ProviderSignOut;
  readonly routes: readonly Routes[];
};

/** Signing in by an OpenID provider. */
export function wireOpenId(
  ports: Omit<ConnectedDeps & SignOutDeps, 'redirectUri' | 'signedOutUrl'>,
  secureCookie: boolean,
  publicUrl: () => string,
): OpenIdSignIn {
  const deps = { ...ports, redirectUri: () => `${publicUrl()}/api/auth/oidc/callback` };
  const signIn = providerSignIn(deps);
  const signOut = providerSignOut({ ...ports, signedOutUrl: () => `${publicUrl()}/sign-in` });
  return {
    signIn,
    signOut,
    routes: [
      providerSignInRoutes({ providerSignIn: signIn, providerSignOut: signOut, secureCookie }),
      identityRoutes({ identities: connectedIdentities(deps), secureCookie }),
    ],
  };
}
