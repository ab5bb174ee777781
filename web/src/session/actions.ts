import { ApiError } from '../api/errors.ts';
import { request } from '../api/request.ts';
import type { AuthOptions, SignedIn } from '../api/types.ts';
import { signedIn } from './session.ts';

export type Person = { readonly email: string; readonly username: string; readonly password: string };

async function enter(path: string, body: unknown): Promise<void> {
  const answer = await request<SignedIn | { readonly mfa_required: true }>(path, { method: 'POST', body });
  if (!('token' in answer)) throw new ApiError(0, 'mfa_required', 'a second factor is required');
  signedIn(answer);
}

export const signIn = (email: string, password: string): Promise<void> =>
  enter('/api/auth/login', { email, password });

export const register = (person: Person): Promise<void> => enter('/api/auth/register', person);

export const setUp = (code: string, person: Person): Promise<void> =>
  enter('/api/auth/setup', { code, ...person });

export const enterAsGuest = (): Promise<void> => enter('/api/auth/guest', {});

/** What this Berth offers to people who are not signed in. */
export const authOptions = (): Promise<AuthOptions> => request<AuthOptions>('/api/auth/options');
