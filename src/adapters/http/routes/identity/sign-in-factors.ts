import type { PasskeySignIn } from '../../../../app/identity/sign-in/passkey-sign-in.ts';
import type { SecondFactor } from '../../../../app/identity/sign-in/second-factor.ts';
import type { SignedIn } from '../../../../app/identity/sign-in/sign-in.ts';
import type { DomainError } from '../../../../domain/errors.ts';
import type { RequestOrigin } from '../../../../domain/identity/caller.ts';
import { type Result, refuse } from '../../../../domain/result.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as schema from '../../schema/identity/second-factor.ts';
import { SignedInBody } from '../../schema/identity/sign-in.ts';
import { joinRoutes, type Routes } from '../../server.ts';
import { signedInAnswer } from './sign-in-reply.ts';

const publicly = { scope: 'public' } as const;

export type AuthFactorRouteDeps = {
  readonly secondFactor: SecondFactor;
  readonly passkeySignIn: PasskeySignIn;
  readonly secureCookie: boolean;
};

/** The second step after a password, and passkeys alone. */
export const authFactorRoutes = (deps: AuthFactorRouteDeps): Routes =>
  joinRoutes(secondFactorRoutes(deps), passkeyRoutes(deps));

const options = { 200: schema.BrowserOptionsBody };

const secondFactorRoutes =
  (deps: AuthFactorRouteDeps): Routes =>
  (http, tokens) => {
    const answer = signedInAnswer(tokens, deps.secureCookie);

    http.post(
      '/api/auth/mfa',
      operation('auth.finishLogin', 'Finish a sign-in with the second factor', {
        config: publicly,
        refusals: ['login_failed'],
        body: schema.MfaRequest,
        response: { 200: SignedInBody },
      }),
      async (request, reply) => answer(reply, orThrow(await finish(deps, request.body, request.origin))),
    );

    http.post(
      '/api/auth/mfa/options',
      operation('auth.passkeyOptionsOfLogin', 'Get a passkey challenge as second factor', {
        config: publicly,
        refusals: ['login_failed', 'passkeys_unavailable'],
        body: schema.MfaOptionsRequest,
        response: options,
      }),
      async (request) =>
        orThrow(await deps.passkeySignIn.beginSecondFactor(request.body.mfa_token, request.origin)),
    );
  };

const passkeyRoutes =
  ({ passkeySignIn, secureCookie }: AuthFactorRouteDeps): Routes =>
  (http, tokens) => {
    const answer = signedInAnswer(tokens, secureCookie);

    http.post(
      '/api/auth/passkey/options',
      operation('auth.passkeyOptions', 'Get a passkey challenge to sign in', {
        config: publicly,
        refusals: ['passkeys_unavailable'],
        response: options,
      }),
      async (request) => orThrow(await passkeySignIn.begin(request.origin)),
    );

    http.post(
      '/api/auth/passkey/verify',
      operation('auth.passkeyLogin', 'Sign in with a passkey', {
        config: publicly,
        refusals: ['login_failed', 'passkeys_unavailable'],
        body: schema.PasskeySignIn,
        response: { 200: SignedInBody },
      }),
      async (request, reply) =>
        answer(reply, orThrow(await passkeySignIn.signIn(request.body.credential, request.origin))),
    );
  };

async function finish(
  { secondFactor, passkeySignIn }: AuthFactorRouteDeps,
  { mfa_token, code, credential }: schema.MfaRequest,
  origin: RequestOrigin,
): Promise<Result<SignedIn, DomainError>> {
  if (code !== undefined && credential === undefined) {
    return await secondFactor.finish(mfa_token, code, origin);
  }
  if (credential !== undefined && code === undefined) {
    return await passkeySignIn.finish(mfa_token, credential, origin);
  }
  const words = code === undefined ? 'is required' : 'and credential exclude each other';
  return refuse({ code: 'validation_failed', fields: { code: words } });
}
