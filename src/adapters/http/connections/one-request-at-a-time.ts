import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Http } from '../fastify-types.ts';

/** Browsers do not pipeline; some clients pipeline a few requests. */
const MAX_PIPELINED = 8;
/** Listeners for the end of answers; Node.js warns above ten. */
const MAX_LISTENERS = 24;

type Turn = { readonly request: IncomingMessage; readonly response: ServerResponse };

/**
 * Handles a connection's requests one at a time: a pipelined one waits until the previous answer has left, so that a
 * client that does not read occupies one answer. Closes a connection with more than `maxPipelined` requests, or with an
 * upgrade before its answers. Nothing more of a closed connection starts.
 */
export function workOneAtATime(http: Http, maxPipelined = MAX_PIPELINED): void {
  const { server } = http;
  const work = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  /** Each connection's requests; the first is being handled. */
  const turns = new WeakMap<Socket, Turn[]>();
  const begin = (turn: Turn | undefined): void => {
    if (turn !== undefined) for (const each of work) each(turn.request, turn.response);
  };

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    response.setMaxListeners(MAX_LISTENERS);
    const queue = turns.get(socket) ?? [];
    if (queue.length === 0) turns.set(socket, queue);
    if (queue.length >= maxPipelined) {
      socket.destroy();
      return;
    }
    response.once('close', () => {
      queue.shift();
      if (socket.destroyed) queue.length = 0;
      begin(queue[0]);
    });
    queue.push({ request, response });
    if (queue.length === 1) begin(queue[0]);
  });
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    if ((turns.get(socket)?.length ?? 0) > 0) socket.destroy();
  });
}
