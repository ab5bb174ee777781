import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http } from './types.ts';

/** Browsers send one request at a time on a connection; some clients pipeline a few. */
const MAX_PIPELINED = 8;
const STALL_MS = 60_000;

/**
 * Bounds what a client that does not read can hold. A connection with more than `maxPipelined` requests under way is
 * closed, as each of them would keep an answer in memory. One on which nothing moves for `stallMs` milliseconds after an
 * answer was sent is closed too. A request that is still being worked on has no such limit.
 */
export function limitUnreadAnswers(
  http: Http,
  { maxPipelined = MAX_PIPELINED, stallMs = STALL_MS } = {},
): void {
  const underWay = new WeakMap<object, number>();
  http.server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const requests = (underWay.get(socket) ?? 0) + 1;
    underWay.set(socket, requests);
    if (requests > maxPipelined) {
      socket.destroy();
      return;
    }
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    // Node.js replaces this limit by the one between requests as soon as the answer has left.
    response.once('prefinish', () => socket.setTimeout(stallMs));
  });
}
