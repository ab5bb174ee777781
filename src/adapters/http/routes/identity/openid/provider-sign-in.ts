import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ProviderSignIn } from '../../../../../app/identity/openid/provider-sign-in.ts';
import type { ProviderSignOut } from '../../../../../app/identity/openid/provider-sign-out.ts';
import type { ReturnRefusal } from '../../../../../domain/identity/openid/provider-refusal.ts';
import { PROVIDER_PAGE } from '../../../../../domain/identity/openid/provider-sign-in.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as bodies from '../../../schema/identity/openid.ts';
import { LinkCodeRequest } from '../../../schema/identity/people/account-links.ts';
import { LoginBody } from '../../../schema/identity/sign-in.ts';
import type { Routes } from '../../../server.ts';
import { loginAnswer, signedInAnswer } from '../sign-in-reply.ts';
import { browserSecret, keepBrowserSecret } from './browser-cookie.ts';

const publicly = { scope: 'public' } as const;
const MAX_FORM_BYTES = 20_000;

export type ProviderRouteDeps = {
  readonly providerSignIn: ProviderSignIn;
  readonly providerSignOut: ProviderSignOut;
  readonly secureCookie: boolean;
};

/** Signing in by an OpenID provider. The first two routes are addresses that browsers open, so they answer by redirects. */
export const providerSignInRoutes =
  (deps: ProviderRouteDeps): Routes =>
  (http, tokens) => {
    redirectRoutes(deps)(http, tokens);
    finishRoutes(deps)(http, tokens);
    http.register(async (inner) => signOutRoutes(deps)(inner as typeof http, tokens));
  };

/** Shows the outcome in the page. Behind `#`: browsers do not send it, and no log has it. */
const toPage = (reply: FastifyReply, outcome: Readonly<Record<string, string>>): FastifyReply =>
  reply.redirect(`${PROVIDER_PAGE}#${new URLSearchParams(outcome).toString()}`, 303);

const turnBack = (reply: FastifyReply, refused: ReturnRefusal): FastifyReply => toPage(reply, { refused });

/** As the browser sent it. */
const queryOf = ({ url }: FastifyRequest): URLSearchParams => new URL(url, 'http://localhost').searchParams;

const redirectRoutes =
  ({ providerSignIn, secureCookie }: ProviderRouteDeps): Routes =>
  (http) => {
    http.get(
      '/api/auth/oidc/start',
      operation('auth.startProvider', 'Go to the OpenID provider to sign in', {
        config: publicly,
        description: 'For browsers: answers by a redirect, also after a failure.',
        querystring: bodies.StartQuery,
        response: { 303: bodies.Redirected },
      }),
      async (request, reply) => {
        const browser = keepBrowserSecret(request, reply, secureCookie);
        const returnPath = queryOf(request).get('return') ?? undefined;
        const started = await providerSignIn.start(browser, returnPath, request.origin);
        return started.ok ? reply.redirect(started.value.href, 303) : turnBack(reply, started.error.code);
      },
    );

    http.get(
      '/api/auth/oidc/callback',
      operation('auth.returnFromProvider', "Take the OpenID provider's answer", {
        config: publicly,
        description: 'For browsers: answers by a redirect to the page, also after a failure.',
        querystring: bodies.CallbackQuery,
        response: { 303: bodies.Redirected },
      }),
      async (request, reply) => {
        const browser = browserSecret(request, secureCookie);
        const arrived = await providerSignIn.arrive(browser, queryOf(request), request.origin);
        if (!arrived.ok) return turnBack(reply, arrived.error.code);
        const { id, purpose, returnPath } = arrived.value;
        return toPage(reply, { arrived: id, purpose, return: returnPath });
      },
    );
  };

const finishRoutes =
  ({ providerSignIn, secureCookie }: ProviderRouteDeps): Routes =>
  (http, tokens) => {
    const answerLogin = loginAnswer(signedInAnswer(tokens, secureCookie));

    http.post(
      '/api/auth/oidc/invitation',
      operation('auth.acceptAtProvider', 'Get the address to accept an invitation at the OpenID provider', {
        config: publicly,
        refusals: ['link_not_valid', 'provider_not_set_up', 'provider_unavailable'],
        body: LinkCodeRequest,
        response: { 200: bodies.ProviderUrl },
      }),
      async (request, reply) => {
        const browser = keepBrowserSecret(request, reply, secureCookie);
        const { code } = request.body;
        const started = await providerSignIn.startAcceptance(code, browser, request.origin);
        return { url: orThrow(started).href };
      },
    );

    http.post(
      '/api/auth/oidc/finish',
      operation('auth.finishProvider', 'Open the session of a sign-in at the OpenID provider', {
        config: publicly,
        description:
          'Where an invitation is accepted, it makes the account first. `provider_username_needed` has a `suggestion` (or null): finish again with a `username`.',
        refusals: [
          'link_not_valid',
          'provider_other_address',
          'provider_already_connected',
          'provider_name_taken',
          'provider_username_needed',
          'provider_not_asked',
          'provider_sign_in_expired',
          'provider_email_unverified',
          'provider_no_account',
          'provider_account_exists',
          'account_disabled',
        ],
        body: bodies.ProviderSignInFinish,
        response: { 200: LoginBody },
      }),
      async (request, reply) => {
        const browser = browserSecret(request, secureCookie);
        const { id, username } = request.body;
        const finished = await providerSignIn.finish({ id, browser, username }, request.origin);
        return answerLogin(reply, orThrow(finished));
      },
    );
  };

const signOutRoutes =
  ({ providerSignOut }: ProviderRouteDeps): Routes =>
  (http) => {
    const form = { parseAs: 'string', bodyLimit: MAX_FORM_BYTES } as const;
    http.addContentTypeParser('application/x-www-form-urlencoded', form, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
    );

    http.post(
      '/api/auth/oidc/backchannel-logout',
      operation('auth.signOutByProvider', 'End sessions that the OpenID provider has ended', {
        config: publicly,
        description: 'For the provider: a logout token as form data. Each works once.',
        refusals: ['logout_token_rejected', 'provider_not_set_up', 'provider_unavailable'],
        body: bodies.LogoutTokenForm,
        response: { 200: bodies.SignedOutBody },
      }),
      async ({ body, origin }) => ({
        ended: orThrow(await providerSignOut.byProvider(body.logout_token, origin)),
      }),
    );
  };
