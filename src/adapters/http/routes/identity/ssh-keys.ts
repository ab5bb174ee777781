import type { SshKeys } from '../../../../app/identity/account/ssh-keys.ts';
import { orThrow } from '../../errors.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/identity/ssh-keys.ts';
import type { Routes } from '../../server.ts';

export const sshKeyRoutes =
  (keys: SshKeys): Routes =>
  (http) => {
    http.get(
      '/api/me/ssh-keys',
      operation('sshKeys.list', 'List your SSH keys', {
        config: { scope: 'read', failure: 'failed to list ssh keys' },
        querystring: schema.SshKeyListQuery,
        response: { 200: schema.SshKeyList },
      }),
      async ({ caller, query }) =>
        listBody('ssh_keys', (await keys.list(caller)).map(serializeSshKey), query, 'id'),
    );

    http.post(
      '/api/me/ssh-keys',
      operation('sshKeys.add', 'Add an SSH key', {
        config: { scope: 'write', shutAfterReset: true, makesRecord: true, failure: 'failed to add ssh key' },
        refusals: ['token_dependent', 'ssh_key_exists', 'ssh_key_limit_reached'],
        body: schema.SshKeyRequest,
        response: { 201: schema.SshKeyBody },
      }),
      async ({ body, caller, origin }, reply) => {
        const added = orThrow(await keys.add(body.public_key, body.name, caller, origin));
        return reply.code(201).send(serializeSshKey(added));
      },
    );

    http.delete(
      '/api/me/ssh-keys/:id',
      operation('sshKeys.delete', 'Delete an SSH key', {
        config: {
          scope: 'write',
          shutAfterReset: true,
          failure: 'failed to remove ssh key',
        },
        refusals: ['ssh_key_not_found'],
        params: IdParams,
        response: { 200: schema.DeletedSshKeyBody },
      }),
      async ({ params, caller, origin }) => {
        const { id } = orThrow(await keys.remove(params.id, caller, origin));
        return { id, deleted: true as const };
      },
    );
  };

const serializeSshKey = bodyOf(schema.SshKeyBody);
