import type { Writable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../fastify-types.ts';
import { isUpgrade } from './upgrades.ts';

/** Called when the handler has answered. */
const answered = new WeakMap<FastifyRequest, () => void>();

/** A command outlives its client, so both the handler's answer and the connection's end are awaited. */
export function trackAnswers(http: Http): void {
  http.addHook('onRoute', (route) => {
    if (route.config?.lasting !== 'commands') return;
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, _reply, payload, done) => {
        answered.get(request)?.();
        done(null, payload);
      },
    ];
  });
}

/** Releases the use at the end of what the request began: its socket, its answer, or its command. */
export function releaseAtEnd(request: FastifyRequest, reply: FastifyReply, release: () => void): void {
  const { lasting } = request.routeOptions.config;
  if (isUpgrade(request)) {
    releaseWithSocket(reply, release);
    return;
  }
  let waitsFor = lasting === 'commands' ? 2 : 1;
  const ended = (): void => {
    waitsFor -= 1;
    if (waitsFor === 0) release();
  };
  if (lasting === 'commands') {
    answered.set(request, () => {
      answered.delete(request);
      ended();
    });
  }
  whenGone(reply.raw, ended);
}

/** An injected request has a socket only for its answer. */
export const releaseWithSocket = ({ raw }: FastifyReply, release: () => void): void =>
  whenGone(raw.socket ?? raw, release);

/** Calls it when the stream closes, or now if it has: a client may leave while its credential is looked up. */
function whenGone(stream: Writable | undefined, work: () => void): void {
  if (stream === undefined || stream.closed) work();
  else stream.once('close', work);
}
