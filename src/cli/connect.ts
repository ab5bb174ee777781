import { Berth } from '../client/index.ts';
import { notSignedIn } from './cli-error.ts';
import type { HostsFile } from './profiles/hosts-file.ts';
import { sessionToken } from './profiles/session-token.ts';
import type { Target } from './profiles/target.ts';
import { USER_AGENT } from './version.ts';

const headers = { 'user-agent': USER_AGENT };

/** The service, as the user. */
export function connect(target: Target, hosts: HostsFile): Berth {
  const { server } = target;
  switch (target.kind) {
    case 'given':
      return new Berth({ server, token: target.token, headers });
    case 'anonymous':
      throw notSignedIn(`You are not signed in to ${server}.`, server);
    case 'profile': {
      const { credential } = target.profile;
      if (credential.kind === 'api_token') return new Berth({ server, token: credential.token, headers });
      const token = (refused?: string) => sessionToken(hosts, target.name, server, refused);
      return new Berth({ server, token, headers });
    }
  }
}
