import type { Http } from '../fastify-types.ts';

const BODY_SECONDS = 30;
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

/**
 * Limits the time of a body, except on routes with `slowBody`, which watch their own. Node's limit has no exceptions,
 * so large uploads could not pass it.
 */
export function limitBodies(http: Http, seconds = BODY_SECONDS): void {
  // Not async: a promise would cost every request more than this check.
  http.addHook('onRequest', (request, reply, done) => {
    const { headers, raw, routeOptions } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (!hasBody || routeOptions.config.slowBody === true) return done();
    const timer = setTimeout(() => {
      if (raw.complete || raw.destroyed) return;
      if (!reply.raw.headersSent && raw.socket.writable) raw.socket.write(TIMED_OUT);
      raw.destroy();
    }, seconds * 1000);
    timer.unref();
    reply.raw.once('close', () => clearTimeout(timer));
    done();
  });
}
