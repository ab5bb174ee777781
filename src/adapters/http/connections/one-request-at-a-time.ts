import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Http } from '../fastify-types.ts';
import { type HandleExchange, handleBy, withExchanges } from './exchanges.ts';

/** Browsers do not pipeline; some clients pipeline a few requests. */
const MAX_PIPELINED = 8;
/** Listeners for the end of answers; Node.js warns above ten. */
const MAX_LISTENERS = 24;

type Turn = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Connection = {
  isBusy: boolean;
  /** Requests behind the one that is being handled. */
  readonly waiting: Turn[];
};

const ORDER = Symbol('order');
/** A field of the connection: a WeakMap costs every request a search, and the garbage collector more. */
type Ordered = Socket & { [ORDER]?: Connection };

/**
 * Handles a connection's requests one at a time: a pipelined one waits until the previous answer has left, so that a
 * client that does not read occupies one answer. Closes a connection with more than `maxPipelined` requests, or with an
 * upgrade before its answers. Nothing more of a closed connection starts.
 */
export function workOneAtATime(http: Http, maxPipelined = MAX_PIPELINED): void {
  let begin: HandleExchange;
  const next = (socket: Ordered): void => {
    const connection = socket[ORDER];
    if (connection === undefined) return;
    if (socket.destroyed) connection.waiting.length = 0;
    const turn = connection.waiting.shift();
    connection.isBusy = turn !== undefined;
    if (turn !== undefined) begin(turn.request, turn.response);
  };

  const inTurn: HandleExchange = (request, response) => {
    const socket: Ordered = request.socket;
    socket[ORDER] ??= { isBusy: false, waiting: [] };
    const connection = socket[ORDER];
    if (connection.isBusy && connection.waiting.length + 1 >= maxPipelined) {
      socket.destroy();
      return;
    }
    response.setMaxListeners(MAX_LISTENERS);
    if (connection.isBusy) {
      connection.waiting.push({ request, response });
      return;
    }
    connection.isBusy = true;
    begin(request, response);
  };
  handleBy(http, (handle) => {
    begin = handle;
    return inTurn;
  });
  withExchanges(http, { end: next });
  http.server.prependListener('upgrade', (_request: IncomingMessage, socket: Ordered) => {
    if (socket[ORDER]?.isBusy) socket.destroy();
  });
}
