import { randomUUID } from 'node:crypto';
import fastifyCookie from '@fastify/cookie';
import fastifyWebsocket from '@fastify/websocket';
import Fastify, { type FastifyBaseLogger, LogController, type preValidationHookHandler } from 'fastify';
import { type AuthDeps, registerAuthentication } from './auth/authentication-hook.ts';
import { type LoginTokens, loginTokens, type SigningKeys } from './auth/login-token.ts';
import { limitBodies } from './connections/body-timeout.ts';
import { connectionBudget, limitConnections } from './connections/connections.ts';
import { limitSocketsByAddress, type SocketLimit } from './connections/limit-sockets.ts';
import { workOneAtATime } from './connections/one-request-at-a-time.ts';
import { limitUnreadAnswers } from './connections/unread-replies.ts';
import { refuseOtherUpgrades } from './connections/upgrades.ts';
import { onBadAddress, onError, onNotFound } from './errors.ts';
import type { Http } from './fastify-types.ts';
import { openApi } from './open-api.ts';
import { measureAnswers } from './request-metrics.ts';
import { compilers } from './schema-compilers.ts';
import { headersOfEveryAnswer } from './security-headers.ts';

const MAX_FRAME_BYTES = 1_048_576;
const MAX_FRAGMENTS = 64;

export type HttpOptions = {
  readonly auth: Omit<AuthDeps, 'tokens'>;
  readonly sockets: SocketLimit;
  readonly logger: FastifyBaseLogger;
  readonly signingKeys: SigningKeys;
  /** Proxies whose X-Forwarded-For is believed; empty for none. */
  readonly trustProxy: readonly string[];
  readonly version: string;
  /** How many files this process may have open; null for no limit. */
  readonly openFiles: number | null;
};

/** Registers routes on the server; the composition root passes one for each part of the interface. */
export type Routes = (http: Http, tokens: LoginTokens) => void;

/** The server with everything that all routes share: limits, headers, errors, authentication. */
export async function httpServer(options: HttpOptions, routes: readonly Routes[]): Promise<Http> {
  const http: Http = Fastify({
    loggerInstance: options.logger,
    // A log of its own for each request costs as much as authenticating it, and most requests have nothing to say.
    childLoggerFactory: (log) => log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    frameworkErrors: onBadAddress,
    // The authentication refuses them in the form of all other refusals.
    return503OnClosing: false,
    bodyLimit: 65_536,
    requestTimeout: 0,
    routerOptions: { maxParamLength: 128 },
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000, maxHeaderSize: 16_384 },
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    schemaController: { compilersFactory: compilers },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true } },
  });
  http.setErrorHandler(onError);
  http.setNotFoundHandler(onNotFound);
  workOneAtATime(http);
  limitUnreadAnswers(http);
  if (options.openFiles !== null) limitConnections(http, connectionBudget(options.openFiles));
  acceptEmptyJson(http);
  limitBodies(http);
  headersOfEveryAnswer(http);
  logAnswers(http);
  measureAnswers(http, options.auth.metrics);
  await http.register(fastifyCookie, { hook: false });
  const tokens = await loginTokens(http, options.signingKeys);
  await openApi(http, options.version);
  // Before the authentication: a refused upgrade is hung up only when this plugin has seen it come.
  await http.register(fastifyWebsocket, {
    options: {
      maxPayload: MAX_FRAME_BYTES,
      // The types of the library do not know it yet.
      ...({ maxFragments: MAX_FRAGMENTS } as object),
      perMessageDeflate: false,
      handleProtocols: pickProtocol,
    },
  });
  registerAuthentication(http, { ...options.auth, tokens });
  refuseOtherUpgrades(http);
  limitSocketsByAddress(http, options.sockets);
  await http.register(async (scope) => {
    for (const register of routes) register(scope.withTypeProvider() as Http, tokens);
  });
  return http;
}

/** Never the offered one that carries a token. */
const pickProtocol = (offered: Set<string>): string | false =>
  [...offered].find((name) => name.startsWith('berth.')) ?? false;

/** Said only to those who listen: a hook costs each request, whatever the level. */
function logAnswers(http: Http): void {
  if (!['debug', 'trace'].includes(http.log.level)) return;
  http.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    const fields = { method, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime };
    request.log.debug({ reqId: request.id, ...fields }, 'request answered');
  });
}

/** An empty body with a JSON content type is an empty body; prototype poisoning is a 400. */
function acceptEmptyJson(http: Http): void {
  const parse = http.getDefaultJsonParser('error', 'error');
  http.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parse(request, body as string, done);
  });
  // A missing body is validated as an empty object, so that the answer names the missing fields.
  http.addHook('onRoute', (route) => {
    if (route.schema?.body === undefined) return;
    route.preValidation = [bodyOrEmpty, ...[route.preValidation ?? []].flat()];
  });
}

const bodyOrEmpty: preValidationHookHandler = (request, _reply, done) => {
  request.body ??= {};
  done();
};
