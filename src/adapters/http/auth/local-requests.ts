import type { FastifyRequest } from 'fastify';

const LOCAL_ADDRESSES: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
/** With any of these, somebody else sent the request on. */
const OF_PROXIES = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'forwarded',
  'via',
] as const;
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** What nginx speaks to the service unless it is told otherwise, then with the service's own address as the host. */
const HTTP_OF_PROXIES = '1.0';

/**
 * Whether a request seems to be made on this machine by somebody who names it so. A proxy on the same machine passes on
 * what comes from anywhere, and not each leaves a trace: ask only where there is none. A page in a browser that was led to
 * 127.0.0.1 names another host.
 */
export function isLocal({ headers, raw }: FastifyRequest): boolean {
  return (
    raw.httpVersion !== HTTP_OF_PROXIES &&
    LOCAL_ADDRESSES.has(raw.socket.remoteAddress ?? '') &&
    OF_PROXIES.every((name) => headers[name] === undefined) &&
    LOCAL_HOST.test(headers.host ?? '')
  );
}
