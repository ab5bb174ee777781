import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Accounts } from '../../../app/accounts.ts';
import type { SignedIn, SignIn } from '../../../app/sign-in.ts';
import { Refusal } from '../../../domain/errors.ts';
import { orThrow } from '../errors.ts';
import type { LoginTokens } from '../login-token.ts';
import * as schema from '../schema/auth.ts';
import type { Routes } from '../server.ts';
import { toUserBody } from './user-body.ts';

const REFRESH_COOKIE = 'berth_refresh';
const publicly = { scope: 'public' } as const;

export type AuthRouteDeps = {
  readonly accounts: Accounts;
  readonly signIn: SignIn;
  /** Whether browsers reach the service by https, so that the cookie must not travel otherwise. */
  readonly secureCookie: boolean;
};

export const authRoutes =
  ({ accounts, signIn, secureCookie }: AuthRouteDeps): Routes =>
  (http, tokens) => {
    const answer = signedInAnswer(tokens, secureCookie);

    http.get(
      '/api/auth/options',
      { config: publicly, schema: { response: { 200: schema.SignInOptionsBody } } },
      async () => {
        const { setupRequired, openRegistration } = await accounts.options();
        return { setup_required: setupRequired, open_registration: openRegistration };
      },
    );

    http.post(
      '/api/auth/setup',
      { config: publicly, schema: { body: schema.SetupRequest, response: { 201: schema.SignedInBody } } },
      async (request, reply) => {
        const { code, ...person } = request.body;
        return answer(reply.code(201), orThrow(await accounts.setUp(code, person, request.origin)));
      },
    );

    http.post(
      '/api/auth/register',
      { config: publicly, schema: { body: schema.RegisterRequest, response: { 201: schema.SignedInBody } } },
      async (request, reply) =>
        answer(reply.code(201), orThrow(await accounts.register(request.body, request.origin))),
    );

    http.post(
      '/api/auth/login',
      { config: publicly, schema: { body: schema.LoginRequest, response: { 200: schema.SignedInBody } } },
      async (request, reply) => {
        const { email, password } = request.body;
        return answer(reply, orThrow(await signIn.login(email, password, request.origin)));
      },
    );

    http.post(
      '/api/auth/refresh',
      { config: publicly, schema: { response: { 200: schema.SignedInBody } } },
      async (request, reply) =>
        answer(reply, orThrow(await signIn.refresh(refreshCookie(request), request.origin))),
    );

    http.post('/api/auth/logout', { config: { scope: 'login' } }, async (request, reply) => {
      await signIn.logout(request.caller, request.origin);
      reply.clearCookie(REFRESH_COOKIE, { path: '/api/auth' });
      return { logged_out: true };
    });
  };

function refreshCookie(request: FastifyRequest): string {
  const value = request.cookies[REFRESH_COOKIE];
  if (value === undefined || value.length > 128) throw new Refusal({ code: 'unauthorized' });
  return value;
}

const signedInAnswer =
  (tokens: LoginTokens, secure: boolean) =>
  (reply: FastifyReply, { session, user, refreshToken }: SignedIn): schema.SignedInBody => {
    const { token, expiresAt } = tokens.sign({ userId: user.id, sessionId: session.id });
    reply.setCookie(REFRESH_COOKIE, refreshToken, {
      path: '/api/auth',
      httpOnly: true,
      sameSite: 'strict',
      secure,
      expires: session.expiresAt,
    });
    return {
      token,
      expires_at: expiresAt.toISOString(),
      session_id: session.id,
      user: toUserBody(user),
    };
  };
