import type { ProviderSignIn } from '../../../../app/identity/openid/provider-sign-in.ts';
import type { ProviderSignOut } from '../../../../app/identity/openid/provider-sign-out.ts';
import type { Guests } from '../../../../app/identity/sign-in/guest-sign-in.ts';
import type { Registration } from '../../../../app/identity/sign-in/registration.ts';
import type { SignIn } from '../../../../app/identity/sign-in/sign-in.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as schema from '../../schema/identity/sign-in.ts';
import type { Routes } from '../../server.ts';
import { clearRefreshCookie, loginAnswer, refreshCookie, signedInAnswer } from './sign-in-reply.ts';

const publicly = { scope: 'public' } as const;

export type AuthRouteDeps = {
  readonly accounts: Registration;
  readonly guests: Guests;
  readonly signIn: SignIn;
  readonly providerSignIn: Pick<ProviderSignIn, 'label'>;
  readonly providerSignOut: Pick<ProviderSignOut, 'urlOf'>;
  /** Whether browsers use https, so that the cookie needs `Secure`. */
  readonly secureCookie: boolean;
};

export const authRoutes =
  ({ accounts, guests, signIn, providerSignIn, providerSignOut, secureCookie }: AuthRouteDeps): Routes =>
  (http, tokens) => {
    const answer = signedInAnswer(tokens, secureCookie);
    setupRoutes(accounts, providerSignIn.label, answer)(http, tokens);
    registrationRoutes(accounts, guests, answer)(http, tokens);
    loginRoutes(signIn, providerSignOut, answer)(http, tokens);
  };

type Answer = ReturnType<typeof signedInAnswer>;

const setupRoutes =
  (accounts: Registration, label: () => string | null, answer: Answer): Routes =>
  (http) => {
    http.get(
      '/api/auth/options',
      operation('auth.options', 'Read which ways to sign in are open', {
        config: publicly,
        response: { 200: schema.SignInOptionsBody },
      }),
      async () => {
        const { setupRequired, openRegistration, guestsEnabled } = await accounts.options();
        return {
          setup_required: setupRequired,
          open_registration: openRegistration,
          guests_enabled: guestsEnabled,
          provider: label(),
        };
      },
    );

    http.post(
      '/api/auth/setup',
      operation('auth.setUp', 'Create the first administrator', {
        config: publicly,
        refusals: ['setup_done', 'setup_code_rejected'],
        body: schema.SetupRequest,
        response: { 201: schema.SignedInBody },
      }),
      async (request, reply) => {
        const { code, ...person } = request.body;
        return answer(reply.code(201), orThrow(await accounts.setUp(code, person, request.origin)));
      },
    );

    http.post(
      '/api/auth/setup/check',
      operation('auth.checkSetupCode', 'Check a set-up code', {
        config: publicly,
        refusals: ['setup_done', 'setup_code_rejected'],
        body: schema.SetupCodeRequest,
        response: { 200: schema.SetupCodeBody },
      }),
      async (request) => {
        orThrow(await accounts.checkSetupCode(request.body.code, request.origin));
        return { valid: true as const };
      },
    );
  };

const registrationRoutes =
  (accounts: Registration, guests: Guests, answer: Answer): Routes =>
  (http) => {
    http.post(
      '/api/auth/register',
      operation('auth.register', 'Register and sign in', {
        config: publicly,
        refusals: ['registration_closed'],
        body: schema.RegisterRequest,
        response: { 201: schema.SignedInBody },
      }),
      async (request, reply) =>
        answer(reply.code(201), orThrow(await accounts.register(request.body, request.origin))),
    );

    http.post(
      '/api/auth/guest',
      operation('auth.enterAsGuest', 'Enter as a guest', {
        config: publicly,
        refusals: ['guests_disabled'],
        body: schema.GuestRequest,
        response: { 200: schema.SignedInBody },
      }),
      async (request, reply) =>
        answer(reply, orThrow(await guests.enter(request.body.username, request.origin))),
    );
  };

const loginRoutes =
  (signIn: SignIn, providerSignOut: AuthRouteDeps['providerSignOut'], answer: Answer): Routes =>
  (http) => {
    const answerLogin = loginAnswer(answer);

    http.post(
      '/api/auth/login',
      operation('auth.login', 'Sign in with a password', {
        config: publicly,
        refusals: ['login_failed'],
        body: schema.LoginRequest,
        response: { 200: schema.LoginBody },
      }),
      async (request, reply) => {
        const { email, password } = request.body;
        return answerLogin(reply, orThrow(await signIn.login(email, password, request.origin)));
      },
    );

    http.post(
      '/api/auth/refresh',
      operation('auth.refresh', 'Get a new login token', {
        config: publicly,
        security: [{ refreshCookie: [] }],
        refusals: ['unauthorized'],
        response: { 200: schema.SignedInBody },
      }),
      async (request, reply) =>
        answer(reply, orThrow(await signIn.refresh(refreshCookie(request, reply), request.origin))),
    );

    http.post(
      '/api/auth/logout',
      operation('auth.logout', 'Sign out', {
        config: { scope: 'login', whileLocked: true },
        response: { 200: schema.LoggedOutBody },
      }),
      async (request, reply) => {
        await signIn.logout(request.caller, request.origin);
        clearRefreshCookie(reply);
        const atProvider = await providerSignOut.urlOf(request.caller);
        return { logged_out: true, provider_sign_out_url: atProvider?.href ?? null };
      },
    );
  };
