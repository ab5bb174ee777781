import type { Writable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LastingUse } from '../../../domain/identity/use-limits.ts';
import type { Http } from '../fastify-types.ts';

/** What is counted as long as its socket is open. */
export const isSocket = (use: LastingUse | undefined): boolean =>
  use === 'terminals' || use === 'event_sockets';

/** What to call once the handler has answered. */
const answered = new WeakMap<FastifyRequest, () => void>();

/** A command goes on when its client has left, so its handler's answer is waited for as well as the connection's end. */
export function noticeAnswers(http: Http): void {
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

/** Gives back when what the request began is over: its socket closed, its answer sent, its command ended. */
export function releaseAtEnd(request: FastifyRequest, reply: FastifyReply, release: () => void): void {
  const { lasting } = request.routeOptions.config;
  if (request.headers.upgrade !== undefined) {
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

/** A request that was injected has a socket of its answer alone. */
export const releaseWithSocket = ({ raw }: FastifyReply, release: () => void): void =>
  whenGone(raw.socket ?? raw, release);

/** Does it when that is closed, or at once when it is already: a client may leave while its credential is looked up. */
function whenGone(stream: Writable | undefined, work: () => void): void {
  if (stream === undefined || stream.closed) work();
  else stream.once('close', work);
}
