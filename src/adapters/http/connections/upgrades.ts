import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ArrivalStep } from '../arrival.ts';
import { onNotFound } from '../errors.ts';
import type { Http } from '../fastify-types.ts';

/** RFC 6455. */
const WEBSOCKET_VERSION = '13';

const upgrades = new WeakSet<IncomingMessage>();

/** Whether it takes over its connection. The header alone, without `Connection: upgrade`, is an ordinary request's. */
export const isUpgrade = ({ raw }: FastifyRequest): boolean =>
  raw.headers.upgrade !== undefined && upgrades.has(raw);

/** The returned step ends the connection of a refused upgrade after its answer: nothing else reads from it. */
export function endRefusedUpgrades(http: Http): ArrivalStep {
  http.server.prependListener('upgrade', (request: IncomingMessage) => void upgrades.add(request));
  return (request, reply) => {
    if (!isUpgrade(request)) return;
    const { socket } = request.raw;
    reply.raw.once('finish', () => socket.destroy());
  };
}

/**
 * Refuses, as plain HTTP, an upgrade on a route without a WebSocket, in HTTP/1.0 or of another version, and ends the
 * connection. It runs after the authentication, so that a missing credential gets 401.
 */
export function refuseOtherUpgrades(http: Http): void {
  http.addHook('onRequest', (request, reply, done) => {
    if (!isUpgrade(request)) done();
    else if (request.routeOptions.config.subprotocol === undefined) onNotFound(request, reply);
    else if (!isUsual(request)) upgradeRequired(reply);
    else done();
  });
}

const isUsual = ({ raw }: FastifyRequest): boolean =>
  raw.httpVersion === '1.1' && String(raw.headers['sec-websocket-version']) === WEBSOCKET_VERSION;

const upgradeRequired = (reply: FastifyReply): FastifyReply =>
  reply.code(426).headers({ upgrade: 'websocket', 'sec-websocket-version': WEBSOCKET_VERSION }).send({
    error: 'this address takes WebSockets of version 13 over HTTP/1.1',
    code: 'upgrade_required',
  });

const CLOSING = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Refuses upgrades that arrive while the server closes. Nothing else would end their connections, for which the server
 * waits: @fastify/websocket does not listen any more.
 */
export function refuseUpgradesAtClose(http: Http): void {
  http.addHook('preClose', (done) => {
    http.server.prependListener('upgrade', (_request: IncomingMessage, socket: Duplex) => {
      socket.on('error', () => {});
      socket.end(CLOSING, () => socket.destroy());
    });
    done();
  });
}
