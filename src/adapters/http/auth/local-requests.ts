import type { FastifyRequest } from 'fastify';

const LOCAL_ADDRESSES: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
/** Headers that indicate a proxy. */
const OF_PROXIES = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'forwarded',
  'via',
] as const;
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** nginx's default HTTP version, with the service's own address as the host. */
const HTTP_OF_PROXIES = '1.0';

/**
 * Whether a request seems to come from a local program. A local proxy forwards requests from anywhere, and may leave no
 * trace: use this only without one. A page led to 127.0.0.1 by its DNS names another host.
 */
export function isLocal({ headers, raw }: FastifyRequest): boolean {
  return (
    raw.httpVersion !== HTTP_OF_PROXIES &&
    LOCAL_ADDRESSES.has(raw.socket.remoteAddress ?? '') &&
    OF_PROXIES.every((name) => headers[name] === undefined) &&
    LOCAL_HOST.test(headers.host ?? '')
  );
}
