import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../../../domain/errors.ts';
import type { ArrivalStep } from '../arrival.ts';
import type { Http } from '../fastify-types.ts';
import { type Connection, connectionQueue } from './connection-queue.ts';
import { withExchanges } from './exchanges.ts';

/** Descriptors for database, engine, files and child programs. */
const RESERVE = 100;
/** The largest share of a small limit for the reserve. */
const RESERVE_SHARE = 0.4;
/** Connections above the budget: being closed, or being refused with 503. */
const PASSING = 16;

const COUNTED = Symbol('counted');
/** A field of the connection: a WeakMap costs every request a search, and the garbage collector more. */
type Counted = Socket & { [COUNTED]?: Connection };

/** The descriptors for connections, out of all that this process may open. */
export const connectionBudget = (openFiles: number): number =>
  openFiles - Math.min(RESERVE, Math.ceil(openFiles * RESERVE_SHARE));

/**
 * Keeps connections within a budget of descriptors. One counts once, twice with a request or open socket, which uses
 * another descriptor. Beyond the budget, idle connections are closed for new ones; without idle ones, the returned step
 * refuses requests with 503.
 */
export function limitConnections(http: Http, budget: number): ArrivalStep {
  const { server } = http;
  server.maxConnections = budget + PASSING;
  const queue = connectionQueue();
  const { count } = queue;
  const isSpent = (): boolean => count.idle + 2 * count.busy > budget;
  const makeRoom = (newcomer: Connection): void => {
    while (isSpent() && queue.dropOne(newcomer));
  };
  const begin = (socket: Counted): void => {
    const connection = socket[COUNTED];
    if (connection === undefined) return;
    queue.begin(connection);
    makeRoom(connection);
  };
  server.prependListener('connection', (socket: Counted) => {
    const connection = queue.add(socket);
    socket[COUNTED] = connection;
    socket.once('close', () => queue.remove(connection));
    makeRoom(connection);
  });
  withExchanges(http, {
    begin,
    end: (socket: Counted) => {
      const connection = socket[COUNTED];
      if (connection !== undefined) queue.end(connection);
    },
  });
  // An upgraded connection stays busy until it closes.
  server.prependListener('upgrade', (_request: IncomingMessage, socket: Socket) => begin(socket));
  return (_request, reply) => {
    if (!isSpent()) return;
    reply.header('connection', 'close');
    return new Refusal({ code: 'service_overloaded' });
  };
}
