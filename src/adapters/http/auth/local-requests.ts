import type { FastifyRequest } from 'fastify';

const LOCAL_ADDRESSES: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
/** Headers that indicate a proxy. */
const PROXY_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'forwarded',
  'via',
] as const;
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** By default, nginx before 1.29.7 speaks this and names the service's own address as the host. */
const HTTP_OF_PROXIES = '1.0';

/**
 * Whether a request seems to come from a local program. A local proxy forwards requests from anywhere, and may leave no
 * trace, such as nginx from 1.29.7 on: use this only without one. Against DNS rebinding: such a page sends its own host
 * name.
 */
export const isLocal = ({ headers, raw }: FastifyRequest): boolean =>
  raw.httpVersion !== HTTP_OF_PROXIES &&
  LOCAL_ADDRESSES.has(raw.socket.remoteAddress ?? '') &&
  PROXY_HEADERS.every((name) => headers[name] === undefined) &&
  LOCAL_HOST.test(headers.host ?? '');
