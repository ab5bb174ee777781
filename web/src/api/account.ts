import type { CreationOptions } from '../lib/browser/passkeys.ts';
import { authorized } from '../session/session.ts';
import type { ApiToken, CreatedToken, Me, Passkey, ProfileChange, Scope, Session, SshKey } from './types.ts';

/** The account of the signed-in user. Every call throws an ApiError when it is refused. */

const under = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`;

export const getMe = (): Promise<Me> => authorized<Me>('/api/me');

export const changeMe = (body: ProfileChange): Promise<Me> =>
  authorized<Me>('/api/me', { method: 'PATCH', body });

export const changePassword = (old_password: string, new_password: string): Promise<unknown> =>
  authorized('/api/me/password', { method: 'POST', body: { old_password, new_password } });

export type Enrolment = { readonly secret: string; readonly otpauth_uri: string; readonly qr_svg: string };
type RecoveryCodes = { readonly recovery_codes: readonly string[] };
export type MfaStatus = { readonly enabled: boolean; readonly recovery_codes_left: number };

export const getMfa = (): Promise<MfaStatus> => authorized<MfaStatus>('/api/me/mfa');

export const enrolMfa = (): Promise<Enrolment> => authorized<Enrolment>('/api/me/mfa', { method: 'POST' });

/** Confirms the user when the sign-in is not recent. */
export type Proof = { readonly password?: string; readonly code?: string };

/** Throws an ApiError when the service does not accept the proof. */
export const confirmItIsMe = (proof: Proof): Promise<unknown> =>
  authorized('/api/me/confirm', { method: 'POST', body: proof });

async function codesFrom(path: string, body: Proof): Promise<readonly string[]> {
  return (await authorized<RecoveryCodes>(path, { method: 'POST', body })).recovery_codes;
}

export const confirmMfa = (code: string, proof: Proof): Promise<readonly string[]> =>
  codesFrom('/api/me/mfa/confirm', { ...proof, code });

export const renewRecoveryCodes = (code: string): Promise<readonly string[]> =>
  codesFrom('/api/me/mfa/recovery-codes', { code });

export const disableMfa = (code: string): Promise<unknown> =>
  authorized('/api/me/mfa', { method: 'DELETE', body: { code } });

export async function listPasskeys(): Promise<readonly Passkey[]> {
  return (await authorized<{ passkeys: readonly Passkey[] }>('/api/me/passkeys')).passkeys;
}

export const passkeyOptions = (body: Proof): Promise<CreationOptions> =>
  authorized<CreationOptions>('/api/me/passkeys/options', { method: 'POST', body });

export const addPasskey = (credential: object, name: string): Promise<Passkey> =>
  authorized<Passkey>('/api/me/passkeys/verify', { method: 'POST', body: { credential, name } });

export const renamePasskey = (id: string, name: string): Promise<Passkey> =>
  authorized<Passkey>(under('/api/me/passkeys', id), { method: 'PATCH', body: { name } });

export const deletePasskey = (id: string, body: Proof): Promise<unknown> =>
  authorized(under('/api/me/passkeys', id), { method: 'DELETE', body });

/** `current` is needed where a passcode is set. */
export const setPasscode = (passcode: string, current?: string): Promise<unknown> =>
  authorized('/api/me/lock', { method: 'PUT', body: { passcode, current_passcode: current } });

export const removePasscode = (current: string): Promise<unknown> =>
  authorized('/api/me/lock', { method: 'DELETE', body: { current_passcode: current } });

export async function listTokens(): Promise<readonly ApiToken[]> {
  return (await authorized<{ tokens: readonly ApiToken[] }>('/api/tokens')).tokens;
}

/** `expires_in` in days; without it the token does not expire. */
export type NewToken = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_in?: number;
};

export const createToken = (body: NewToken): Promise<CreatedToken> =>
  authorized<CreatedToken>('/api/tokens', { method: 'POST', body });

export const revokeToken = (id: string): Promise<unknown> =>
  authorized(`${under('/api/tokens', id)}/revoke`, { method: 'POST' });

export const deleteToken = (id: string): Promise<unknown> =>
  authorized(under('/api/tokens', id), { method: 'DELETE' });

export async function listSessions(): Promise<readonly Session[]> {
  return (await authorized<{ sessions: readonly Session[] }>('/api/sessions')).sessions;
}

export const revokeSession = (id: string): Promise<unknown> =>
  authorized(under('/api/sessions', id), { method: 'DELETE', body: {} });

export const revokeOtherSessions = (): Promise<{ readonly count: number }> =>
  authorized('/api/sessions/revoke-others', { method: 'POST', body: {} });

export async function listSshKeys(): Promise<readonly SshKey[]> {
  return (await authorized<{ ssh_keys: readonly SshKey[] }>('/api/me/ssh-keys')).ssh_keys;
}

export const addSshKey = (public_key: string, name: string): Promise<SshKey> =>
  authorized<SshKey>('/api/me/ssh-keys', {
    method: 'POST',
    body: { public_key, ...(name === '' ? {} : { name }) },
  });

export const deleteSshKey = (id: string): Promise<unknown> =>
  authorized(under('/api/me/ssh-keys', id), { method: 'DELETE' });
