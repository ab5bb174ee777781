import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Http } from '../fastify-types.ts';

/** Browsers send one request at a time on a connection; some clients pipeline a few. */
const MAX_PIPELINED = 8;
/** What follows the end of an answer, each by a listener of its own; Node.js warns above ten. */
const MAX_LISTENERS = 24;

/**
 * Works on one request of a connection at a time. One that was pipelined waits until the answer before it has left, so that a
 * client that does not read holds one answer. A connection with more than `maxPipelined` requests is closed, as is one that asks for
 * an upgrade before it has its answers. Nothing of a closed connection is begun.
 */
export function workOneAtATime(http: Http, maxPipelined = MAX_PIPELINED): void {
  const { server } = http;
  const work = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  /** What each connection has asked for; the first one is worked on. */
  const turns = new WeakMap<Socket, (() => void)[]>();

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    response.setMaxListeners(MAX_LISTENERS);
    const queue = turns.get(socket) ?? [];
    turns.set(socket, queue);
    if (queue.length >= maxPipelined) {
      socket.destroy();
      return;
    }
    response.once('close', () => {
      queue.shift();
      if (socket.destroyed) queue.length = 0;
      queue[0]?.();
    });
    queue.push(() => {
      for (const each of work) each(request, response);
    });
    if (queue.length === 1) queue[0]?.();
  });
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    if ((turns.get(socket)?.length ?? 0) > 0) socket.destroy();
  });
}
