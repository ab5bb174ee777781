import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthorizedConnections } from '../../app/identity/auth/authorized-connections.ts';
import type { Caller } from '../../domain/identity/caller.ts';

const STALL_MS = 60_000;
const KEEP_ALIVE_MS = 30_000;
/** How long a client may take to read an answer sent before the end of its upload. */
const LINGER_MS = 5_000;

/** Whether the client accepts this type by name; wildcards do not count. */
export const accepts = ({ headers }: FastifyRequest, type: string): boolean =>
  (headers.accept ?? '').split(',').some((each) => each.split(';')[0]?.trim().toLowerCase() === type);

// Injected requests have no such methods.
type Connection = Partial<Pick<FastifyRequest['raw']['socket'], 'setTimeout' | 'setKeepAlive' | 'destroy'>>;
const connectionOf = ({ raw }: FastifyRequest): Connection => raw.socket;

/** Ends the connection after a minute without traffic in either direction. */
export const abortWhenStalled = (request: FastifyRequest): void =>
  void connectionOf(request).setTimeout?.(STALL_MS);

/** Detects a lost peer on a quiet connection within minutes. */
export const enableTcpKeepAlive = (request: FastifyRequest): void =>
  void connectionOf(request).setKeepAlive?.(true, KEEP_ALIVE_MS);

/** Calls it when the exchange ends, or now if it has: the client may have left meanwhile. */
export function whenClosed({ raw }: FastifyReply, work: () => void): void {
  if (raw.closed) work();
  else raw.once('close', work);
}

export type AbortGuard = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Aborts an exchange when its caller loses the right to it, as if the client had left; the client can tell an
 * incomplete answer.
 */
export const abortWhenUnauthorized =
  (live: AuthorizedConnections, mayStay: (now: Caller) => boolean): AbortGuard =>
  (request, reply) => {
    const close = (): void => void reply.raw.destroy();
    const { end } = live.register({ caller: request.caller, mayStay, close });
    whenClosed(reply, end);
  };

/** Sends status and headers of a streamed answer at once: its first byte may come much later. */
export const flushHeaders = ({ raw }: FastifyReply): void => void raw.once('pipe', () => raw.flushHeaders());

/**
 * Most clients cannot read an early answer while they upload, so the rest is read and discarded for a moment; then the
 * connection ends.
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
