import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { EventFeed } from '../../../app/events/event-feed.ts';
import type { AuthorizedConnections } from '../../../app/identity/auth/authorized-connections.ts';
import { authorize, hasScope, isBarred, reaches } from '../../../domain/identity/caller.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { SocketCloseReason } from '../../../protocol/close-codes.ts';
import { EVENTS_PROTOCOL } from '../../../protocol/subprotocols.ts';
import { hangUp } from '../close-socket.ts';
import { keepAlive } from '../heartbeat.ts';
import { inputLimit, SocketPause } from '../socket-reader.ts';
import { plainRequest } from '../upgrade-required.ts';
import { pingIn, pongFrame } from './event-frames.ts';
import { EventOutbox } from './event-outbox.ts';

export type EventSocketDeps = {
  readonly feed: EventFeed<Buffer>;
  readonly live: AuthorizedConnections;
  readonly log: Logger;
};

const SCOPE = 'read';

const EventQuery = Type.Object(
  { after: Type.Optional(Type.String({ maxLength: 128 })) },
  { additionalProperties: false },
);

/** GET /api/events: refusals are plain HTTP before the upgrade; then a stream of events. */
export function eventSocket(http: FastifyInstance, deps: EventSocketDeps): void {
  http.route({
    method: 'GET',
    url: '/api/events',
    config: {
      scope: SCOPE,
      forRestricted: true,
      subprotocol: EVENTS_PROTOCOL,
      failure: 'failed to read events',
      lasting: 'event_sockets',
    },
    schema: {
      operationId: 'events.connect',
      summary: 'Follow the changes of your containers',
      refusals: ['address_full'],
      querystring: EventQuery,
    },
    preHandler: async (request) => {
      if (request.ws) await deps.feed.ready();
    },
    handler: plainRequest,
    wsHandler: (socket, request) => serve(socket, request, deps),
  });
}

const afterOf = ({ query }: FastifyRequest): string | null => (query as { after?: string }).after ?? null;

function serve(socket: WebSocket, request: FastifyRequest, { feed, live, log }: EventSocketDeps): void {
  const { caller, socket: connection } = request;
  const outbox = new EventOutbox(socket, connection);
  // Nothing is sent after the decision to close.
  const close = (reason: SocketCloseReason): void => {
    outbox.stop();
    hangUp(socket, reason);
  };
  socket.on('error', (error) => log.info({ err: error }, 'event socket failed'));
  const limitInput = inputLimit(new SocketPause(socket));
  socket.on('message', (data, isBinary) => {
    limitInput((data as Buffer).length);
    const ping = isBinary ? null : pingIn(String(data));
    if (ping !== null) outbox.sendNow(pongFrame(ping));
  });
  let present = caller;
  const registration = live.register({
    caller,
    mayStay: (now) => {
      present = now;
      return authorize(now, SCOPE).ok;
    },
    close: () => close(CLOSE.unauthorized),
  });
  const subscriber = {
    userId: caller.user.id,
    reaches: (dbId: string) => reaches(caller, dbId),
    mayAdminister: () => hasScope(present, 'admin') && !isBarred(present),
    send: (frame: Buffer) => outbox.send(frame),
    resync: () => outbox.resync(),
    close,
  };
  const { missed, end } = feed.subscribe(subscriber, afterOf(request));
  socket.once('close', () => {
    outbox.stop();
    registration.end();
    end();
  });
  keepAlive(socket, () => {});
  missed.then(
    (frames) => outbox.begin(frames),
    (err: unknown) => {
      log.warn({ err }, 'could not read missed events');
      close('failed to read events');
    },
  );
}
