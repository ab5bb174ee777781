import type { ArrivalStep } from '../arrival.ts';

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'accept, authorization, content-type, idempotency-key',
  'access-control-max-age': '600',
} as const;

/** The headers that a client reads. */
const EXPOSED = 'content-disposition, retry-after, www-authenticate, x-request-id';

/**
 * Lets pages of the allowed origins send requests and read the answers. They sign in by a token:
 * cookies are not sent. Pages of other origins get no such header, so the browser hides the answers from them.
 */
export const allowCrossOrigin =
  (allowedOrigins: ReadonlySet<string>): ArrivalStep =>
  (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined) return;
    reply.header('vary', 'Origin');
    if (!allowedOrigins.has(origin)) return;
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (!isPreflight) return;
    reply.code(204).headers(PREFLIGHT).send();
    return 'answered';
  };
