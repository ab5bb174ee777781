import { BerthError } from '../../client/index.ts';
import { notSignedIn } from '../cli-error.ts';
import { renew, type SignedIn } from './auth-calls.ts';
import { credentialOf, isInKeyring, kindOf, type Reading, withCredential } from './credentials.ts';
import type { Hosts, HostsFile, Profile, SessionCredential } from './hosts-file.ts';
import type { Keyring } from './keyring.ts';
import { uninterrupted } from './uninterrupted.ts';

/** A token this close to its end may expire on the way. */
const MARGIN_MS = 30_000;
/** Of the keyring while other commands wait for the file. */
const UNDER_LOCK_MS = 3_000;

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
  const kept = { keyring: hosts.keyring, name, server };
  // why: the second asks the user to unlock the keyring, if need be, before other commands wait for this one
  for (const fresh of [false, true]) {
    const present = usable(await sessionOf(hosts.read(), kept, { fresh }));
    if (present !== null) return present;
  }
  let token = '';
  const renewal = async (before: Hosts, begin: () => void): Promise<Hosts> => {
    const saved = await sessionOf(before, kept, { fresh: true, limitMs: UNDER_LOCK_MS });
    if (saved === null) throw notSignedIn(absentWords(before.profiles[name]), server);
    token = saved.token;
    if (usable(saved) !== null) return before;
    begin();
    // why: a new refresh token that cannot be saved ends the session
    await withSession(before, kept, saved);
    const session = await renewed(server, saved);
    token = session.token;
    return await withSession(before, kept, session);
  };
  await uninterrupted((begin) => hosts.update((before) => renewal(before, begin)));
  return token;
}

const absentWords = (profile: Profile | undefined): string =>
  profile !== undefined && isInKeyring(profile)
    ? 'Your sign-in is no longer in the keyring.'
    : 'You have signed out.';

async function renewed(server: string, saved: SessionCredential): Promise<SessionCredential> {
  try {
    return sessionCredential(await renew(server, saved.refresh_token));
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

export const sessionCredential = ({ token, expiresAt, refreshToken }: SignedIn): SessionCredential => ({
  kind: 'session',
  token,
  expires_at: expiresAt,
  refresh_token: refreshToken,
});

type Kept = { readonly keyring: Keyring; readonly name: string; readonly server: string };

async function sessionOf(
  { profiles }: Hosts,
  { keyring, name, server }: Kept,
  reading: Reading,
): Promise<SessionCredential | null> {
  const profile = profiles[name];
  if (profile?.server !== server || kindOf(profile) !== 'session') return null;
  const credential = await credentialOf(keyring, profile, reading);
  return credential?.kind === 'session' ? credential : null;
}

async function withSession(
  hosts: Hosts,
  { keyring, name }: Kept,
  session: SessionCredential,
): Promise<Hosts> {
  const profile = hosts.profiles[name] as Profile;
  const changed = await withCredential(keyring, profile, session, UNDER_LOCK_MS);
  return changed === profile ? hosts : { ...hosts, profiles: { ...hosts.profiles, [name]: changed } };
}
