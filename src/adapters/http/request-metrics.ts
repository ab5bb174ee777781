import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { TOKEN_START } from '../../domain/identity/token.ts';
import type { AnswerCount, Metrics } from '../../ports/metrics.ts';
import type { ArrivalStep } from './arrival.ts';
import { bearerOf } from './auth/bearer-token.ts';

const ARRIVED_MS = Symbol('arrivedMs');
const COUNT = Symbol('count');
/** Without a route of its own: files and pages of the browser app, and addresses that are neither. */
const REST = '/*';
const UNKNOWN = 'unknown';
type Measured = ServerResponse & { [ARRIVED_MS]?: number; [COUNT]?: AnswerCount | undefined };

/**
 * Counts and times answers, without a hook at their end: Fastify makes two functions and reads the clock twice for each
 * answer with one.
 */
export function measureAnswers(metrics: Pick<Metrics, 'httpRoute'>): ArrivalStep {
  const counts = new Map<string, Map<string, AnswerCount>>();
  const newCount = (method: string, route: string): AnswerCount => {
    const known = metrics.httpRoute(method, route);
    if (route !== REST) return known;
    return (status, seconds) => (status === 404 ? countOf(method, UNKNOWN) : known)(status, seconds);
  };
  const countOf = (method: string, route: string): AnswerCount => {
    const methods = counts.get(route) ?? new Map<string, AnswerCount>();
    const made = methods.get(method) ?? newCount(method, route);
    counts.set(route, methods.set(method, made));
    return made;
  };
  return ({ method, routeOptions: { url = UNKNOWN } }, { raw }) => {
    const response: Measured = raw;
    response[ARRIVED_MS] = performance.now();
    response[COUNT] = counts.get(url)?.get(method) ?? countOf(method, url);
    response.on('finish', count).on('error', count);
  };
}

function count(this: Measured): void {
  const counted = this[COUNT];
  this[COUNT] = undefined;
  counted?.(this.statusCode, (performance.now() - (this[ARRIVED_MS] ?? 0)) / 1000);
}

export function credentialKind(request: FastifyRequest): 'login' | 'api_token' | 'none' {
  const bearer = bearerOf(request);
  if (bearer === null) return 'none';
  return bearer.startsWith(TOKEN_START) ? 'api_token' : 'login';
}
