import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Origin } from '../../../domain/identity/caller.ts';

const MAX_USER_AGENT = 512;
/** As some proxies write it: with the port that the client came from. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+)):\d{1,5}$/;

/**
 * The address that a request came from: of a proxy that is believed, the one that it names. What is no address cannot be
 * counted or looked for, so the proxy's own stands for it; a port would make another address of every connection.
 */
export function addressOf({ ip, raw }: FastifyRequest): string {
  if (isIP(ip) !== 0) return ip;
  const [, six, four] = WITH_PORT.exec(ip) ?? [];
  const bare = six ?? four ?? '';
  // Requests that were made without a connection have none.
  const socket: FastifyRequest['socket'] | undefined = raw.socket;
  return isIP(bare) !== 0 ? bare : (socket?.remoteAddress ?? '');
}

/** Where a request came from, for sessions, counts and the audit. */
export const originOf = (request: FastifyRequest): Origin => ({
  ipAddress: addressOf(request),
  userAgent: printable(request.headers['user-agent'] ?? ''),
});

/** Control characters are dropped so that a record cannot forge lines or drive a terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '').slice(0, MAX_USER_AGENT);
