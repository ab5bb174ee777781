/**
 * Fastify with some of the service's work for a request with an API token. Argument: how many of `TOKEN_RUNGS`, from the
 * first. Uses the service's own functions, so that the ladder shows what it has.
 */
import { randomUUID } from 'node:crypto';
import Fastify, { LogController } from 'fastify';
import pino from 'pino';
import { onArrival } from '../../../../src/adapters/http/arrival.ts';
import { bearerOf } from '../../../../src/adapters/http/auth/bearer-token.ts';
import { tokenOf } from '../../../../src/adapters/http/auth/presented-tokens.ts';
import { connectionBudget, limitConnections } from '../../../../src/adapters/http/connections/connections.ts';
import { workOneAtATime } from '../../../../src/adapters/http/connections/one-request-at-a-time.ts';
import type { Http } from '../../../../src/adapters/http/fastify-types.ts';
import { measureAnswers } from '../../../../src/adapters/http/request-metrics.ts';
import { ValidTokenBody } from '../../../../src/adapters/http/schema/identity/tokens.ts';
import { compilers } from '../../../../src/adapters/http/schema-compilers.ts';
import { headersOfData } from '../../../../src/adapters/http/security-headers.ts';
import { prometheusMetrics } from '../../../../src/adapters/prometheus/prometheus-metrics.ts';
import { announce } from '../servers.ts';
import { TOKEN_BODY } from '../token-body.ts';
import { TOKEN_RUNGS, type TokenRung } from './rungs.ts';

const rungs: ReadonlySet<TokenRung> = new Set(TOKEN_RUNGS.slice(0, Number(process.argv[2])));

const http = Fastify({
  ...(rungs.has('id and logger') ? { genReqId: () => randomUUID() } : {}),
  ...(rungs.has('serializer') ? { schemaController: { compilersFactory: compilers } } : {}),
  logController: new LogController({ disableRequestLogging: true }),
}) as unknown as Http;
if (rungs.has('id and logger')) {
  const logger = pino({ level: 'silent' });
  http.setChildLoggerFactory(() => logger);
}
if (rungs.has('connections')) workOneAtATime(http);
onArrival(http, [
  ...(rungs.has('metrics') ? [measureAnswers(prometheusMetrics())] : []),
  ...(rungs.has('headers') ? [headersOfData] : []),
  ...(rungs.has('connections') ? [limitConnections(http, connectionBudget(1_024))] : []),
]);
const known = new Set<string>();
if (rungs.has('token')) {
  http.addHook('onRequest', (request, _reply, done) => {
    const bearer = bearerOf(request);
    if (bearer !== null) known.add(tokenOf(request, bearer).digest);
    done(known.size === 1 ? undefined : new Error('unknown'));
  });
}
const config = { scope: 'api_token' as const };
const schema = rungs.has('serializer') ? { schema: { response: { 200: ValidTokenBody } } } : {};
http.get<{ Reply: unknown }>('/api/tokens/validate', { config, ...schema }, (_request, reply) => {
  reply.send(TOKEN_BODY);
});
const address = await http.listen({ host: '127.0.0.1', port: 0 });
announce({ address }, () => http.close());
