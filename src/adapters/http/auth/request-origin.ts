import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Origin } from '../../../domain/identity/caller.ts';

const MAX_USER_AGENT = 512;
/** Some proxies add the client's port. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+)):\d{1,5}$/;

/**
 * The client's address: for a trusted proxy, the one that it names. If that is no address, the proxy's own is used;
 * with a port, every connection would have another address.
 */
export function addressOf({ ip, raw }: FastifyRequest): string {
  if (isIP(ip) !== 0) return ip;
  const [, six, four] = WITH_PORT.exec(ip) ?? [];
  const bare = six ?? four ?? '';
  // Injected requests have none.
  const socket: FastifyRequest['socket'] | undefined = raw.socket;
  return isIP(bare) !== 0 ? bare : (socket?.remoteAddress ?? '');
}

/** The request's source, for sessions, counts and the audit. */
export const originOf = (request: FastifyRequest): Origin => ({
  ipAddress: addressOf(request),
  userAgent: printable(request.headers['user-agent'] ?? ''),
});

/** Without control characters a record cannot forge lines or drive a terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '').slice(0, MAX_USER_AGENT);
