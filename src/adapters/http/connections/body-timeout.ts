import type { ArrivalStep } from '../arrival.ts';

const BODY_SECONDS = 30;
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

/**
 * Limits the time of a body, except on routes with `slowBody`, which watch their own. Node's limit has no exceptions,
 * so large uploads could not pass it.
 */
export const limitBodies =
  (seconds = BODY_SECONDS): ArrivalStep =>
  (request, reply) => {
    const { headers } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (!hasBody || request.routeOptions.config.slowBody === true) return;
    const { raw } = request;
    const timer = setTimeout(() => {
      if (raw.complete || raw.destroyed) return;
      if (!reply.raw.headersSent && raw.socket.writable) raw.socket.write(TIMED_OUT);
      raw.destroy();
    }, seconds * 1000);
    timer.unref();
    reply.raw.once('close', () => clearTimeout(timer));
  };
