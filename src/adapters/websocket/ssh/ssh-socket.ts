import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { createWebSocketStream } from 'ws';
import type { SshAccess } from '../../../app/terminals/ssh/ssh-access.ts';
import { Refusal } from '../../../domain/errors.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import type { UseLimits } from '../../../domain/identity/use-limits.ts';
import { SSH_PROTOCOL } from '../../../protocol/subprotocols.ts';
import { IN_CONTAINER, plainRequest } from '../upgrade-required.ts';

/** Who opened a socket for SSH, for which container, and from where. */
export type SshSocketPeer = {
  readonly caller: Caller;
  readonly limits: UseLimits;
  readonly dbId: string;
  readonly ipAddress: string;
};

export type SshSocketDeps = {
  readonly access: SshAccess;
  /** Serves SSH on the stream to a client that is signed in already. */
  readonly serve: (stream: Duplex, peer: SshSocketPeer) => void;
};

/** GET /api/containers/{id}/ssh: refusals are plain HTTP before the upgrade; then SSH in binary messages. */
export function sshSocket(http: FastifyInstance, { access, serve }: SshSocketDeps): void {
  http.route<{ Params: { id: string } }>({
    method: 'GET',
    url: '/api/containers/:id/ssh',
    config: {
      scope: 'write',
      forRestricted: true,
      subprotocol: SSH_PROTOCOL,
      failure: 'failed to open ssh',
      lasting: 'terminals',
    },
    schema: { operationId: 'ssh.connect', summary: 'Connect to a container by SSH', refusals: IN_CONTAINER },
    preHandler: async ({ params, caller }) => {
      const found = await access.check(params.id, caller);
      if (!found.ok) throw new Refusal(found.error);
    },
    handler: plainRequest,
    wsHandler: (socket, { caller, limits, origin, params }) =>
      serve(createWebSocketStream(socket, { allowHalfOpen: false }), {
        caller,
        limits,
        dbId: params.id,
        ipAddress: origin.ipAddress,
      }),
  });
}
