import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';

const MAX_USER_AGENT = 512;
/** Some proxies add the client's port, which is another one for each connection. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+)):\d{1,5}$/;

/**
 * The client's address: for a trusted proxy, the one that it names, without a port. If that is no address,
 * the proxy's own is used.
 */
export function addressOf({ ip, raw }: FastifyRequest): string {
  if (isIP(ip) !== 0) return ip;
  const [, ipv6, ipv4] = WITH_PORT.exec(ip) ?? [];
  const bare = ipv6 ?? ipv4 ?? '';
  // Injected requests have none.
  const socket: FastifyRequest['socket'] | undefined = raw.socket;
  return isIP(bare) !== 0 ? bare : (socket?.remoteAddress ?? '');
}

/** Where the request comes from, for sessions, counts and the audit; not its `Origin` header. */
export const originOf = (request: FastifyRequest): RequestOrigin => ({
  ipAddress: addressOf(request),
  userAgent: printable(request.headers['user-agent'] ?? ''),
});

/** Without control characters a record cannot forge lines or drive a terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '').slice(0, MAX_USER_AGENT);
