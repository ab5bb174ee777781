import type { FastifyRequest } from 'fastify';
import { BEARER_PREFIX } from '../../../protocol/subprotocols.ts';

const BEARER = /^Bearer +(\S.*)$/i;
/** Nearly all clients send this, and a regular expression costs more. */
const COMMON_PREFIX = 'Bearer ';

/**
 * The bearer token of a request: from the Authorization header or, on routes with a subprotocol, from
 * `Sec-WebSocket-Protocol: <subprotocol>, bearer.<token>`, since browsers cannot set headers on a WebSocket. Never from
 * the URL.
 */
export function bearerOf(request: FastifyRequest): string | null {
  const { authorization } = request.headers;
  if (authorization !== undefined) return bearerIn(authorization);
  const { subprotocol } = request.routeOptions.config;
  if (subprotocol === undefined) return null;
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  const bearer = offered.find((part) => part.startsWith(BEARER_PREFIX));
  return offered.includes(subprotocol) && bearer !== undefined ? bearer.slice(BEARER_PREFIX.length) : null;
}

function bearerIn(authorization: string): string | null {
  const usual = authorization.startsWith(COMMON_PREFIX) && authorization[COMMON_PREFIX.length] !== ' ';
  const bearer = usual ? authorization.slice(COMMON_PREFIX.length) : BEARER.exec(authorization)?.[1];
  return bearer || null;
}
