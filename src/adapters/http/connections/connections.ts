import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../../../domain/errors.ts';
import type { ArrivalStep } from '../arrival.ts';
import type { Http } from '../fastify-types.ts';
import { waitingConnections } from './connection-queue.ts';

/** Descriptors for database, engine, files and child programs. */
const RESERVE = 100;
/** The largest share of a small limit for the reserve. */
const RESERVE_SHARE = 0.4;
/** Connections above the budget: being closed, or being refused with 503. */
const PASSING = 16;

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
  const waiting = waitingConnections();
  const busy = new Map<Socket, number>();
  const isSpent = (): boolean => waiting.count() + 2 * busy.size > budget;
  const makeRoom = (newcomer: Socket): void => {
    while (isSpent() && waiting.dropOne(newcomer));
  };
  const begin = (socket: Socket): void => {
    waiting.delete(socket);
    busy.set(socket, (busy.get(socket) ?? 0) + 1);
    makeRoom(socket);
  };
  const end = (socket: Socket): void => {
    const left = (busy.get(socket) ?? 0) - 1;
    if (left > 0) busy.set(socket, left);
    else if (busy.delete(socket) && !socket.destroyed) waiting.add(socket, 'kept_alive');
  };
  server.prependListener('connection', (socket: Socket) => {
    socket.once('close', () => {
      waiting.delete(socket);
      busy.delete(socket);
    });
    waiting.add(socket, 'fresh');
    makeRoom(socket);
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    begin(socket);
    response.once('close', () => end(socket));
  });
  // An upgraded connection stays busy until it closes.
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => begin(socket));
  return (_request, reply) => {
    if (!isSpent()) return;
    reply.header('connection', 'close');
    return new Refusal({ code: 'service_overloaded' });
  };
}
