import { randomUUID } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { AttachedProcess } from '../../../app/containers/processes/attach-process.ts';
import type { Processes } from '../../../app/containers/processes/processes.ts';
import type { AuthorizedConnections } from '../../../app/identity/auth/authorized-connections.ts';
import { within } from '../../../concurrency/timeout.ts';
import { OFFSETS_PATTERN, offsetsIn } from '../../../domain/containers/processes/output-offsets.ts';
import { Refusal } from '../../../domain/errors.ts';
import { authorize, type Caller } from '../../../domain/identity/caller.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { SocketCloseReason } from '../../../protocol/close-codes.ts';
import { PROCESS_PROTOCOL } from '../../../protocol/subprotocols.ts';
import { hangUp } from '../close-socket.ts';
import { keepAlive } from '../heartbeat.ts';
import { plainRequest } from '../upgrade-required.ts';
import { attachment } from './attached-process.ts';

export type AttachSocketDeps = {
  readonly processes: Pick<Processes, 'attach'>;
  /** Whether an attached caller may still be attached. */
  readonly mayGoOn: (now: Caller) => boolean;
  readonly live: AuthorizedConnections;
  readonly log: Logger;
};

const SCOPE = 'write';
/** How long input of a client that has left may still be written. */
const LEAVE_MS = 3_000;

/** Checks the request before the upgrade. */
const REFUSALS = [
  'container_not_found',
  'not_authorized',
  'container_not_running',
  'engine_busy',
  'container_unresponsive',
  'engine_right_missing',
  'not_for_agents',
  'too_many_processes',
  'process_not_found',
  'guest_session_expired',
  'process_outcome_unknown',
  'address_full',
] as const;

const AttachQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: OFFSETS_PATTERN,
        description: 'The bytes of stdout, and after a comma of stderr, that you have. Default `0,0`.',
      }),
    ),
    writer: Type.Optional(
      Type.String({
        pattern: '^[a-zA-Z0-9_-]{16,64}$',
        description:
          'Names this client over its connections, by a random text: input is taken once for each.',
      }),
    ),
  },
  { additionalProperties: false },
);

type Params = { readonly id: string; readonly process_id: string };

/** GET …/processes/{process_id}/attach: refusals are plain HTTP before the upgrade; then output, input and control. */
export function attachSocket(http: FastifyInstance, deps: AttachSocketDeps): void {
  const begun = new WeakMap<FastifyRequest, AttachedProcess>();
  http.route<{ Params: Params; Querystring: Static<typeof AttachQuery> }>({
    method: 'GET',
    url: '/api/containers/:id/processes/:process_id/attach',
    config: {
      scope: SCOPE,
      forRestricted: true,
      subprotocol: PROCESS_PROTOCOL,
      failure: 'failed to attach to process',
      lasting: 'terminals',
    },
    schema: {
      operationId: 'processes.attach',
      summary: 'Follow and control a process',
      refusals: REFUSALS,
      querystring: AttachQuery,
    },
    preHandler: async (request) => {
      const { params, query, caller, origin } = request;
      const after = offsetsIn(query.after);
      const { writer = randomUUID() } = query;
      const attached = await deps.processes.attach(
        params.id,
        params.process_id,
        after,
        writer,
        caller,
        origin,
      );
      if (!attached.ok) throw new Refusal(attached.error);
      const { output } = attached.value;
      const { socket } = request.raw;
      if (!request.ws || socket.destroyed) return await output.end();
      socket.once('close', () => void output.end());
      begun.set(request, attached.value);
    },
    handler: plainRequest,
    wsHandler: (socket, request) => {
      const attached = begun.get(request);
      if (attached === undefined) throw new Error('a socket was opened without a process');
      serve(socket, request.caller, attached, deps);
    },
  });
}

function serve(
  socket: WebSocket,
  caller: Caller,
  attached: AttachedProcess,
  { mayGoOn, live, log }: AttachSocketDeps,
): void {
  let [isOver, hasLeft] = [false, false];
  const end = (): void => {
    isOver = true;
    registration.end();
    relayed.stop();
  };
  const close = (reason: SocketCloseReason): void => {
    if (isOver) return;
    if (!hasLeft) hangUp(socket, reason);
    end();
  };
  const failed = (err: unknown): void => {
    if (isOver || hasLeft) return;
    log.info({ err }, 'a process could not be followed or controlled');
    close(CLOSE.tryAgainLater);
  };
  socket.on('error', (err) => log.info({ err }, 'process socket failed'));
  socket.once('close', () => {
    if (isOver) return;
    hasLeft = true;
    void within(LEAVE_MS, relayed.leave(), undefined).finally(end);
  });
  const registration = live.register({
    caller,
    mayStay: (now) => authorize(now, SCOPE).ok && mayGoOn(now),
    close: () => close(CLOSE.unauthorized),
  });
  const relayed = attachment(socket, attached, {
    registration,
    close: (reason) => {
      if (!hasLeft) close(reason);
    },
    failed,
  });
  keepAlive(socket, () => {});
}
