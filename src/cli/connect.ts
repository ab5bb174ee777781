import { Berth, socketBy, type TokenSource } from '../client/index.ts';
import { notSignedIn } from './cli-error.ts';
import { credentialOf, kindOf } from './profiles/credentials.ts';
import type { HostsFile } from './profiles/hosts-file.ts';
import { sessionToken } from './profiles/session-token.ts';
import type { Target } from './profiles/target.ts';
import { USER_AGENT } from './version.ts';

/** The service, as the user. */
export const connect = (target: Target, hosts: HostsFile): Berth =>
  new Berth({
    server: target.server,
    token: tokenSource(target, hosts),
    headers: { 'user-agent': USER_AGENT },
    // why: this way the package is in the one file that the command is
    openSocket: async () => socketBy((await import('ws')).WebSocket),
  });

type OfProfile = Extract<Target, { kind: 'profile' }>;

/** The credential of each request. Throws where nobody is signed in. */
export function tokenSource(target: Target, hosts: HostsFile): TokenSource {
  switch (target.kind) {
    case 'given':
      return target.token;
    case 'anonymous':
      throw notSignedIn(`You are not signed in to ${target.server}.`, target.server);
    case 'profile': {
      const { name, server, profile } = target;
      if (profile.credential.kind === 'api_token') return profile.credential.token;
      if (kindOf(profile) === 'api_token') return () => tokenInKeyring(hosts, target);
      return (refused) => sessionToken(hosts, name, server, refused);
    }
  }
}

async function tokenInKeyring({ keyring }: HostsFile, { profile, server }: OfProfile): Promise<string> {
  const credential = await credentialOf(keyring, profile, { fresh: false });
  if (credential === null) throw notSignedIn('Your API token is no longer in the keyring.', server);
  return credential.token;
}
