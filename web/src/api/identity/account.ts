import { leaveFor } from '../../lib/browser/link-code.ts';
import type { CreationOptions } from '../../lib/browser/passkeys.ts';
import { del, get, getList, patch, post, put, under } from '../calls.ts';
import type {
  ApiToken,
  CreatedToken,
  Identity,
  IdentityFinished,
  Me,
  Passkey,
  ProfileChange,
  Scope,
  Session,
  SshHostKeys,
  SshKey,
} from '../types.ts';

/** The account of the signed-in user. */

export const getMe = () => get<Me>('/api/me');

export const changeMe = (body: ProfileChange) => patch<Me>('/api/me', body);

export const changePassword = (old_password: string, new_password: string) =>
  post('/api/me/password', { old_password, new_password });

/** The first password of an account that has none. */
export const setPassword = (new_password: string, { code }: Proof) =>
  post('/api/me/password', { new_password, ...(code !== undefined && { code }) });

export type Enrolment = { readonly secret: string; readonly otpauth_uri: string; readonly qr_svg: string };
type RecoveryCodes = { readonly recovery_codes: readonly string[] };
export type MfaStatus = { readonly enabled: boolean; readonly recovery_codes_left: number };

export const getMfa = () => get<MfaStatus>('/api/me/mfa');

export const enrolMfa = () => post<Enrolment>('/api/me/mfa');

/** Confirms the user when the sign-in is not recent. */
export type Proof = { readonly password?: string; readonly code?: string };

/** Throws a BerthError when the service does not accept the proof. */
export const confirmItIsMe = (proof: Proof) => post('/api/me/confirm', proof);

const codesFrom = async (path: string, body: Proof): Promise<readonly string[]> =>
  (await post<RecoveryCodes>(path, body)).recovery_codes;

export const confirmMfa = (code: string, proof: Proof) =>
  codesFrom('/api/me/mfa/confirm', { ...proof, code });

export const renewRecoveryCodes = (code: string) => codesFrom('/api/me/mfa/recovery-codes', { code });

export const disableMfa = (code: string) => del('/api/me/mfa', { code });

const PASSKEYS = '/api/me/passkeys';

export const listPasskeys = () => getList<Passkey>(PASSKEYS, 'passkeys');

export const passkeyOptions = (body: Proof) => post<CreationOptions>(`${PASSKEYS}/options`, body);

export const addPasskey = (credential: object, name: string) =>
  post<Passkey>(`${PASSKEYS}/verify`, { credential, name });

export const renamePasskey = (id: string, name: string) => patch<Passkey>(under(PASSKEYS, id), { name });

export const deletePasskey = (id: string, body: Proof) => del(under(PASSKEYS, id), body);

const IDENTITIES = '/api/me/identities';

export const listIdentities = () => getList<Identity>(IDENTITIES, 'identities');

/** Sends the browser to the OpenID provider; it comes back to `returnPath`. */
export async function goToProvider(
  purpose: 'link' | 'confirm',
  proof: Proof,
  returnPath: string,
): Promise<void> {
  const body = { purpose, return: returnPath, ...proof };
  const { url } = await post<{ readonly url: string }>(`${IDENTITIES}/start`, body);
  leaveFor(url);
}

export const finishIdentity = (id: string) => post<IdentityFinished>(`${IDENTITIES}/finish`, { id });

export const deleteIdentity = (id: string, body: Proof) => del(under(IDENTITIES, id), body);

/** `current` is needed where a passcode is set. */
export const setPasscode = (passcode: string, current?: string) =>
  put('/api/me/lock', { passcode, current_passcode: current });

export const removePasscode = (current: string) => del('/api/me/lock', { current_passcode: current });

export const listTokens = () => getList<ApiToken>('/api/tokens', 'tokens');

/** `expires_in` in days; without it the token does not expire. */
export type NewToken = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_in?: number;
};

export const createToken = (body: NewToken) => post<CreatedToken>('/api/tokens', body);

/** Below the token `parent_id`. Absent limits are those of that one. */
export type NewNarrowerToken = {
  readonly parent_id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly containers?: readonly string[];
  readonly expires_in_minutes?: number;
  readonly max_uses?: number;
};

export const deriveToken = (body: NewNarrowerToken) => post<CreatedToken>('/api/tokens/derive', body);

export const revokeToken = (id: string) => post(`${under('/api/tokens', id)}/revoke`);

export const deleteToken = (id: string) => del(under('/api/tokens', id));

export const listSessions = () => getList<Session>('/api/sessions', 'sessions');

export const revokeSession = (id: string) => del(under('/api/sessions', id), {});

export const revokeOtherSessions = () => post('/api/sessions/revoke-others', {});

export const listSshKeys = () => getList<SshKey>('/api/me/ssh-keys', 'ssh_keys');

export const getSshHostKeys = () => get<SshHostKeys>('/api/ssh/host-keys');

export const addSshKey = (public_key: string, name: string) =>
  post<SshKey>('/api/me/ssh-keys', { public_key, ...(name !== '' && { name }) });

export const deleteSshKey = (id: string) => del(under('/api/me/ssh-keys', id));
