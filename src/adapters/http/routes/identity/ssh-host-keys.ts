import type { SshAccess } from '../../../../app/terminals/ssh/ssh-access.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { SshHostKeysBody } from '../../schema/identity/ssh-keys.ts';
import type { Routes } from '../../server.ts';

const serializeHostKeys = bodyOf(SshHostKeysBody);

export const sshHostKeyRoutes =
  (access: Pick<SshAccess, 'describe'>): Routes =>
  (http) => {
    http.get(
      '/api/ssh/host-keys',
      operation('sshHostKeys.list', 'List the SSH host keys of this installation', {
        config: { scope: 'public', failure: 'failed to read ssh host keys' },
        response: { 200: SshHostKeysBody },
      }),
      async () => serializeHostKeys(await access.describe()),
    );
  };
