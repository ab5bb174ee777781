import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthorizedConnections } from '../../app/identity/auth/authorized-connections.ts';
import type { Caller } from '../../domain/identity/caller.ts';

const STALL_MS = 60_000;
const KEEP_ALIVE_MS = 30_000;
/** How long an answer that came before the end of the upload may take to be read. */
const LINGER_MS = 5_000;

/** Whether the client names this type among those that it takes; a wildcard does not name it. */
export const accepts = ({ headers }: FastifyRequest, type: string): boolean =>
  (headers.accept ?? '').split(',').some((each) => each.split(';')[0]?.trim().toLowerCase() === type);

// Requests that were made without a connection have no such methods.
type Connection = Partial<Pick<FastifyRequest['raw']['socket'], 'setTimeout' | 'setKeepAlive' | 'destroy'>>;
const connectionOf = ({ raw }: FastifyRequest): Connection => raw.socket;

/** Ends the connection when nothing moves on it for a minute, in either direction. */
export const abortWhenStalled = (request: FastifyRequest): void =>
  void connectionOf(request).setTimeout?.(STALL_MS);

/** Notices, within minutes, that the other side of a quiet connection is gone. */
export const enableTcpKeepAlive = (request: FastifyRequest): void =>
  void connectionOf(request).setKeepAlive?.(true, KEEP_ALIVE_MS);

/** Does it when the exchange is over, or at once when it is already: its client may have gone while work was begun. */
export function whenClosed({ raw }: FastifyReply, work: () => void): void {
  if (raw.closed) work();
  else raw.once('close', work);
}

export type AbortGuard = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Cuts an exchange off as soon as who asked for it may not have it any more. What belongs to it ends with the
 * connection, as when the client goes away; the client can tell the half of an answer from a whole one.
 */
export const abortWhenUnauthorized =
  (live: AuthorizedConnections, mayStay: (now: Caller) => boolean): AbortGuard =>
  (request, reply) => {
    const close = (): void => void reply.raw.destroy();
    const { end } = live.register({ caller: request.caller, mayStay, close });
    whenClosed(reply, end);
  };

/** Tells status and headers of a streamed answer at once: its first byte may come long after. */
export const flushHeaders = ({ raw }: FastifyReply): void => void raw.once('pipe', () => raw.flushHeaders());

/**
 * An answer to an upload that is still being sent is read by few who can not go on sending: so the rest is taken
 * and thrown away for a moment, and then the connection ends.
 */
export function drainUpload(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  reply.raw.once('finish', () => {
    if (raw.complete || raw.destroyed) return;
    const timer = setTimeout(() => connectionOf(request).destroy?.(), LINGER_MS).unref();
    raw.once('close', () => clearTimeout(timer));
    raw.on('error', () => {});
    raw.resume();
  });
}
