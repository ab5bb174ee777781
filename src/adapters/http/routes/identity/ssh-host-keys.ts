import type { SshDoor } from '../../../../app/terminals/ssh/ssh-door.ts';
import { SshHostKeysBody } from '../../schema/ssh-keys.ts';
import type { Routes } from '../../server.ts';

export const sshHostKeyRoutes =
  (door: Pick<SshDoor, 'describe'>): Routes =>
  (http) => {
    http.get(
      '/api/ssh/host-keys',
      {
        config: { scope: 'public', failure: 'failed to read ssh host keys' },
        schema: {
          operationId: 'sshHostKeys.list',
          summary: 'List the SSH host keys of this installation',
          response: { 200: SshHostKeysBody },
        },
      },
      async () => {
        const { host, port, keys } = await door.describe();
        return {
          ...{ host, port },
          keys: keys.map(({ type, publicKey, fingerprint, knownHostsLine }) => ({
            ...{ type, public_key: publicKey, fingerprint, known_hosts_line: knownHostsLine },
          })),
        };
      },
    );
  };
