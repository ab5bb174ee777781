import type { FastifyRequest } from 'fastify';
import { TOKEN_START } from '../../domain/identity/token.ts';
import type { AnswerCount, Metrics } from '../../ports/metrics.ts';
import { bearerOf } from './auth/bearer-token.ts';
import type { Http } from './fastify-types.ts';

export function measureAnswers(http: Http, metrics: Pick<Metrics, 'httpRoute'>): void {
  const counts = new Map<string, Map<string, AnswerCount>>();
  const countOf = (method: string, route: string): AnswerCount => {
    const made = metrics.httpRoute(method, route);
    const methods = counts.get(route) ?? new Map<string, AnswerCount>();
    counts.set(route, methods.set(method, made));
    return made;
  };
  http.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? 'unknown';
    const count = counts.get(route)?.get(method) ?? countOf(method, route);
    count(reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
}

export function credentialKind(request: FastifyRequest): 'login' | 'api_token' | 'none' {
  const bearer = bearerOf(request);
  if (bearer === null) return 'none';
  return bearer.startsWith(TOKEN_START) ? 'api_token' : 'login';
}
