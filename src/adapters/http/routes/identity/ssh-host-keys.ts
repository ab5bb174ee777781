import type { SshAccess } from '../../../../app/terminals/ssh/ssh-access.ts';
import { operation } from '../../open-api/route-schema.ts';
import { SshHostKeysBody } from '../../schema/identity/ssh-keys.ts';
import type { Routes } from '../../server.ts';

export const sshHostKeyRoutes =
  (access: Pick<SshAccess, 'describe'>): Routes =>
  (http) => {
    http.get(
      '/api/ssh/host-keys',
      operation('sshHostKeys.list', 'List the SSH host keys of this installation', {
        config: { scope: 'public', failure: 'failed to read ssh host keys' },
        response: { 200: SshHostKeysBody },
      }),
      async () => {
        const { host, port, keys } = await access.describe();
        return {
          host,
          port,
          keys: keys.map(({ type, publicKey, fingerprint, knownHostsLine }) => ({
            type,
            public_key: publicKey,
            fingerprint,
            known_hosts_line: knownHostsLine,
          })),
        };
      },
    );
  };
