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
 * Whether a request was made on this machine by somebody who names it so. A proxy on the same machine passes on what comes
 * from anywhere: its requests are not local, and neither is any once a proxy is configured. A page in a browser that was
 * led to 127.0.0.1 names another host.
 */
export function isLocal({ headers, raw }: FastifyRequest, trustProxy: readonly string[]): boolean {
  return (
    trustProxy.length === 0 &&
    raw.httpVersion !== HTTP_OF_PROXIES &&
    LOCAL_ADDRESSES.has(raw.socket.remoteAddress ?? '') &&
    OF_PROXIES.every((name) => headers[name] === undefined) &&
    LOCAL_HOST.test(headers.host ?? '')
  );
}
