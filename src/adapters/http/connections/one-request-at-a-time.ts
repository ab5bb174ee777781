import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Http } from '../fastify-types.ts';

/** Browsers do not pipeline; some clients pipeline a few requests. */
const MAX_PIPELINED = 8;
/** Listeners for the end of answers; Node.js warns above ten. */
const MAX_LISTENERS = 24;

type Turn = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Connection = {
  isBusy: boolean;
  /** Requests behind the one that is being handled. */
  readonly waiting: Turn[];
  /** At the end of each answer. One function for all of them: making one for each costs every request. */
  readonly next: () => void;
};

/**
 * Handles a connection's requests one at a time: a pipelined one waits until the previous answer has left, so that a
 * client that does not read occupies one answer. Closes a connection with more than `maxPipelined` requests, or with an
 * upgrade before its answers. Nothing more of a closed connection starts.
 */
export function workOneAtATime(http: Http, maxPipelined = MAX_PIPELINED): void {
  const { server } = http;
  const work = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const connections = new WeakMap<Socket, Connection>();
  const begin = ({ request, response }: Turn): void => {
    for (const each of work) each(request, response);
  };
  const connectionOf = (socket: Socket): Connection => {
    const made: Connection = {
      isBusy: false,
      waiting: [],
      next: () => {
        if (socket.destroyed) made.waiting.length = 0;
        const turn = made.waiting.shift();
        made.isBusy = turn !== undefined;
        if (turn !== undefined) begin(turn);
      },
    };
    connections.set(socket, made);
    return made;
  };

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket) ?? connectionOf(socket);
    if (connection.isBusy && connection.waiting.length + 1 >= maxPipelined) {
      socket.destroy();
      return;
    }
    response.setMaxListeners(MAX_LISTENERS);
    response.on('close', connection.next);
    const turn = { request, response };
    if (connection.isBusy) {
      connection.waiting.push(turn);
      return;
    }
    connection.isBusy = true;
    begin(turn);
  });
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    if (connections.get(socket)?.isBusy) socket.destroy();
  });
}
