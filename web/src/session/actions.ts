import { BerthError } from '../api/errors.ts';
import { request } from '../api/request.ts';
import type { AuthOptions, InvitationOffer, Login, MfaRequired, ResetOffer, SignedIn } from '../api/types.ts';
import { leaveFor } from '../lib/browser/link-code.ts';
import { type RequestOptions, usePasskey } from '../lib/browser/passkeys.ts';
import { signedIn } from './session.ts';

export type Person = { readonly email: string; readonly username: string; readonly password: string };

const enter = async (path: string, body: unknown): Promise<void> =>
  signedIn(await request<SignedIn>(path, { method: 'POST', body }));

/** Null when signed in; else what the second step asks for. */
export const signIn = (email: string, password: string): Promise<MfaRequired | null> =>
  login('/api/auth/login', { email, password });

async function login(path: string, body: unknown): Promise<MfaRequired | null> {
  const answer = await request<Login>(path, { method: 'POST', body });
  if ('mfa_required' in answer) return answer;
  signedIn(answer);
  return null;
}

/**
 * Completes a sign-in at the OpenID provider. Null when signed in; else what the second step asks for. `username`: of a
 * new account, after the service has asked for another one.
 */
export const finishProvider = (id: string, username?: string): Promise<MfaRequired | null> =>
  login('/api/auth/oidc/finish', { id, username });

/** Sends the browser of somebody with an invitation to the OpenID provider. */
export async function acceptAtProvider(code: string): Promise<void> {
  const path = '/api/auth/oidc/invitation';
  const { url } = await request<{ readonly url: string }>(path, { method: 'POST', body: { code } });
  leaveFor(url);
}

/** Sends the browser to the OpenID provider; afterwards it goes to `returnPath`. */
export const signInAtProvider = (returnPath: string): void =>
  leaveFor(`/api/auth/oidc/start?return=${encodeURIComponent(returnPath)}`);

/** Tells a refused second step or passkey apart from a wrong password. */
async function enterBy(code: string, path: string, body: unknown): Promise<void> {
  try {
    await enter(path, body);
  } catch (failure) {
    if (failure instanceof BerthError && failure.code === 'login_failed') {
      throw new BerthError(failure.status, code, failure.message);
    }
    throw failure;
  }
}

export const giveCode = ({ mfa_token }: MfaRequired, code: string): Promise<void> =>
  enterBy('code_rejected', '/api/auth/mfa', { mfa_token, code });

export async function givePasskey({ mfa_token }: MfaRequired): Promise<void> {
  const body = { mfa_token };
  const options = await request<RequestOptions>('/api/auth/mfa/options', { method: 'POST', body });
  const credential = await usePasskey(options);
  await enterBy('passkey_refused', '/api/auth/mfa', { mfa_token, credential });
}

export async function signInWithPasskey(): Promise<void> {
  const options = await request<RequestOptions>('/api/auth/passkey/options', { method: 'POST' });
  const credential = await usePasskey(options);
  await enterBy('passkey_refused', '/api/auth/passkey/verify', { credential });
}

export const register = (person: Person): Promise<void> => enter('/api/auth/register', person);

export const setUp = (code: string, person: Person): Promise<void> =>
  enter('/api/auth/setup', { code, ...person });

/** Throws when set-up would refuse the code. */
export const checkSetUpCode = (code: string): Promise<unknown> =>
  request('/api/auth/setup/check', { method: 'POST', body: { code } });

const codeTo =
  <T>(path: string) =>
  (code: string): Promise<T> =>
    request<T>(path, { method: 'POST', body: { code } });

/** Both throw when the link is not valid. */
export const checkInvitation = codeTo<InvitationOffer>('/api/auth/invitations/check');
export const checkReset = codeTo<ResetOffer>('/api/auth/resets/check');

export const acceptInvitation = (code: string, person: Person): Promise<void> =>
  enter('/api/auth/invitations/accept', { code, ...person });

/** Null when signed in; else what the second step asks for. `password`: see `ResetOffer`. */
export async function useReset(code: string, password: string): Promise<MfaRequired | null> {
  const waiting = await login('/api/auth/resets/use', { code, password });
  wasReset = true;
  return waiting;
}

let wasReset = false;

/** Whether this page, since it was loaded, has used a reset link. */
export const hasReset = (): boolean => wasReset;

export const enterAsGuest = (): Promise<void> => enter('/api/auth/guest', {});

/** The ways to sign in that this Berth offers. */
export const authOptions = (): Promise<AuthOptions> => request<AuthOptions>('/api/auth/options');
