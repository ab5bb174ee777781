import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '../../domain/errors.ts';
import type { Http } from './fastify-types.ts';

/** Before the route: undefined to go on, a refusal, or `answered` when the step has sent the answer. */
export type ArrivalStep = (request: FastifyRequest, reply: FastifyReply) => Refusal | 'answered' | undefined;

/**
 * Takes these steps with every request, in order, in one hook: a hook for each costs a small request more than all
 * steps together.
 */
export function onArrival(http: Http, steps: readonly ArrivalStep[]): void {
  http.addHook('onRequest', (request, reply, done) => {
    for (const step of steps) {
      const end = step(request, reply);
      if (end === undefined) continue;
      if (end !== 'answered') done(end);
      return;
    }
    done();
  });
}
