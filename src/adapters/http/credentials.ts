import type { FastifyRequest } from 'fastify';

const BEARER = /^Bearer +(\S.*)$/i;

/**
 * The bearer token of a request: from the Authorization header or, where the route has a subprotocol, from
 * `Sec-WebSocket-Protocol: <subprotocol>, bearer.<token>`, since browsers cannot set headers on a WebSocket.
 * Never from the URL.
 */
export function bearerOf(request: FastifyRequest): string | null {
  const { authorization } = request.headers;
  if (authorization !== undefined) return BEARER.exec(authorization)?.[1] ?? null;
  const { subprotocol } = request.routeOptions.config;
  if (subprotocol === undefined) return null;
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  const bearer = offered.find((part) => part.startsWith('bearer.'));
  return offered.includes(subprotocol) && bearer !== undefined ? bearer.slice('bearer.'.length) : null;
}
