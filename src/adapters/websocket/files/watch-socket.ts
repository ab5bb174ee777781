import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { ContainerAccess } from '../../../app/containers/inside/container-access.ts';
import type { AuthorizedConnections } from '../../../app/identity/auth/authorized-connections.ts';
import { pathText } from '../../../domain/containers/files.ts';
import { authorize, type Caller } from '../../../domain/identity/caller.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { FileChange, FileChanges, FileProgram } from '../../../ports/containers/inside/file-search.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { SocketCloseReason } from '../../../protocol/close-codes.ts';
import { FILES_PROTOCOL } from '../../../protocol/subprotocols.ts';
import { hangUp } from '../close-socket.ts';
import { keepAlive } from '../heartbeat.ts';
import { sent } from '../sent.ts';
import { inputLimit, SocketPause } from '../socket-reader.ts';
import { orRefuse, plainRequest } from '../upgrade-required.ts';
import { OVERFLOW_FRAME, toFrame } from './watch-frames.ts';

export type WatchSocketDeps = {
  readonly access: Pick<ContainerAccess, 'watchFiles' | 'mayGoOnReading'>;
  readonly live: AuthorizedConnections;
  readonly log: Logger;
};

const SCOPE = 'read';
/** Before the upgrade. */
const REFUSALS = [
  'container_not_found',
  'not_authorized',
  'container_not_running',
  'not_for_agents',
  'engine_busy',
  'container_unresponsive',
  'engine_right_missing',
  'too_many_processes',
  'file_not_found',
  'file_outside',
  'file_special',
  'file_not_permitted',
  'file_tools_missing',
  'address_full',
] as const;

const WatchQuery = Type.Object(
  {
    path: Type.Optional(
      Type.String({ maxLength: 16_384, description: 'A folder; `/workspace` by default.' }),
    ),
    recursive: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
  },
  { additionalProperties: false },
);

type Watch = FileProgram<FileChanges>;

/** GET …/files/watch: refusals are plain HTTP before the upgrade; then lists of changes. */
export function watchSocket(http: FastifyInstance, deps: WatchSocketDeps): void {
  const begun = new WeakMap<FastifyRequest, Watch>();
  http.route<{ Params: { id: string } }>({
    method: 'GET',
    url: '/api/containers/:id/files/watch',
    config: {
      scope: SCOPE,
      forRestricted: true,
      subprotocol: FILES_PROTOCOL,
      failure: 'failed to watch files',
      lasting: 'event_sockets',
    },
    schema: {
      operationId: 'files.watch',
      summary: 'Follow the changes of a folder',
      refusals: REFUSALS,
      querystring: WatchQuery,
    },
    preHandler: async (request) => {
      const { path = '', recursive } = request.query as { path?: string; recursive?: string };
      const asked = { path, isRecursive: recursive === 'true' };
      const allowed = orRefuse(await deps.access.watchFiles(request.params.id, asked, request.caller));
      if (!request.ws) return;
      const watch = orRefuse(await allowed.begin());
      const { socket } = request.raw;
      if (socket.destroyed) return await watch.end();
      socket.once('close', () => void watch.end());
      begun.set(request, watch);
    },
    handler: plainRequest,
    wsHandler: (socket, request) => {
      const watch = begun.get(request);
      if (watch === undefined) throw new Error('a socket was opened without a watch');
      serve(socket, request.caller, watch, deps);
    },
  });
}

function serve(
  socket: WebSocket,
  caller: Caller,
  watch: Watch,
  { access, live, log }: WatchSocketDeps,
): void {
  let isOver = false;
  const close = (reason: SocketCloseReason): void => {
    if (!isOver) hangUp(socket, reason);
    isOver = true;
    void watch.end();
  };
  socket.on('error', (error) => log.info({ err: error }, 'file socket failed'));
  const limitInput = inputLimit(new SocketPause(socket));
  socket.on('message', (data) => limitInput((data as Buffer).length));
  const registration = live.register({
    caller,
    mayStay: (now) => authorize(now, SCOPE).ok && access.mayGoOnReading(now),
    close: () => close(CLOSE.unauthorized),
  });
  socket.once('close', () => {
    isOver = true;
    registration.end();
    void watch.end();
  });
  keepAlive(socket, () => {});
  pass(socket, watch).then(close, (err: unknown) => {
    log.info({ err }, 'a watch of files ended');
    close(CLOSE.containerStopped);
  });
}

/** Sends the changes as fast as the client reads; the program waits for it. Returns why there are no more. */
async function pass(socket: WebSocket, { items }: Watch): Promise<SocketCloseReason> {
  let isFirst = true;
  for await (const item of items) {
    if (item.kind === 'too_many') {
      await sent(socket, OVERFLOW_FRAME);
      return CLOSE.ended;
    }
    if (isFirst || item.changes.length > 0) await sent(socket, toFrame(item.changes.map(toEvent)));
    isFirst = false;
  }
  return CLOSE.containerStopped;
}

const toEvent = ({ type, path }: FileChange) => ({ type, path: pathText(path) });
