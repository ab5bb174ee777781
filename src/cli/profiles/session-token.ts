import { BerthError } from '../../client/index.ts';
import { notSignedIn } from '../cli-error.ts';
import { renew, type SignedIn } from './auth-calls.ts';
import type { Hosts, HostsFile, Profile, SessionCredential } from './hosts-file.ts';

/** A token this close to its end may expire on the way. */
const MARGIN_MS = 30_000;

/**
 * The login token of a saved session, renewed before its end. `refused`: one that the service has just refused. Several
 * commands share the file: only one renews, since a refresh token is of one use.
 */
export async function sessionToken(
  hosts: HostsFile,
  name: string,
  server: string,
  refused?: string,
): Promise<string> {
  const usable = (one: SessionCredential | null): string | null =>
    one !== null && one.token !== refused && Date.parse(one.expires_at) - Date.now() > MARGIN_MS
      ? one.token
      : null;
  const present = usable(sessionOf(hosts.read(), name, server));
  if (present !== null) return present;
  const after = await hosts.update(async (before) => {
    const saved = sessionOf(before, name, server);
    if (saved === null) throw notSignedIn('You have signed out.', server);
    if (usable(saved) !== null) return before;
    return withSession(before, name, await renewed(server, saved));
  });
  return sessionOf(after, name, server)?.token ?? '';
}

async function renewed(server: string, saved: SessionCredential): Promise<SessionCredential> {
  try {
    return credentialOf(await renew(server, saved.refresh_token));
  } catch (error) {
    if (error instanceof BerthError && error.status === 401)
      throw notSignedIn(endWords(error.reason), server);
    throw error;
  }
}

const ENDS: Readonly<Record<string, string>> = {
  expired: 'Your sign-in has expired.',
  revoked: 'Your sign-in was revoked.',
  logged_out: 'You have signed out.',
  password_changed: 'Your password was changed, which ended this sign-in.',
  user_disabled: 'Your account is disabled.',
  provider_signed_out: 'The sign-in provider ended this sign-in.',
  too_many_wrong_passcodes: 'Too many wrong passcodes ended this sign-in.',
};

const endWords = (reason: string | null): string =>
  (reason === null ? undefined : ENDS[reason]) ?? 'Your sign-in has ended.';

export const credentialOf = ({ token, expiresAt, refreshToken }: SignedIn): SessionCredential => ({
  kind: 'session',
  token,
  expires_at: expiresAt,
  refresh_token: refreshToken,
});

function sessionOf({ profiles }: Hosts, name: string, server: string): SessionCredential | null {
  const profile = profiles[name];
  return profile?.server === server && profile.credential.kind === 'session' ? profile.credential : null;
}

function withSession(hosts: Hosts, name: string, credential: SessionCredential): Hosts {
  const profile = hosts.profiles[name] as Profile;
  return { ...hosts, profiles: { ...hosts.profiles, [name]: { ...profile, credential } } };
}
