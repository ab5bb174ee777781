import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { type Configuration } from 'oidc-provider';
import type { Test } from 'tap';
import { addressOf } from '../listen.ts';
import { CLIENT } from './scripted-provider.ts';

/** A certified OpenID provider on this machine. On its pages anybody signs in as anybody. It serves one service. */
export async function certifiedProvider(t: Test) {
  const server = createServer();
  const issuer = await addressOf(t, server);
  const serve = (serviceUrl: string): void =>
    void server.on('request', new Provider(issuer, configurationFor(serviceUrl)).callback());
  return { issuer, serve };
}

function configurationFor(serviceUrl: string): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [`${serviceUrl}/api/auth/oidc/callback`],
        post_logout_redirect_uris: [`${serviceUrl}/sign-in`],
        backchannel_logout_uri: `${serviceUrl}/api/auth/oidc/backchannel-logout`,
        backchannel_logout_session_required: true,
        application_type: 'web',
      },
    ],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    // The service is on this machine, where a provider sends nothing by default.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    pkce: { required: () => true },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
    claims: { openid: ['sub', 'sid'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    findAccount: async (_context, sub) => ({
      accountId: sub,
      claims: async () => ({
        sub,
        email: `${sub}@example.org`,
        email_verified: true,
        preferred_username: sub,
      }),
    }),
  };
}
