import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import fastifyWebsocket from '@fastify/websocket';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  LogController,
  type preValidationHookHandler,
} from 'fastify';
import { type ArrivalStep, onArrival } from './arrival.ts';
import { type AuthDeps, registerAuthentication } from './auth/authentication-hook.ts';
import { allowCrossOrigin } from './auth/cross-origin.ts';
import { type LoginTokens, loginTokens, type SigningKeys } from './auth/login-token.ts';
import { workBeforeSocketsClose } from './connections/before-sockets-close.ts';
import { limitBodies } from './connections/body-timeout.ts';
import { connectionBudget, limitConnections } from './connections/connections.ts';
import { limitSocketsByAddress, type SocketLimit } from './connections/limit-sockets.ts';
import { workOneAtATime } from './connections/one-request-at-a-time.ts';
import { limitUnreadAnswers } from './connections/unread-replies.ts';
import { endRefusedUpgrades, refuseOtherUpgrades, refuseUpgradesAtClose } from './connections/upgrades.ts';
import { onBadAddress, onError, onNotFound } from './errors.ts';
import type { Http } from './fastify-types.ts';
import { openApi } from './open-api/open-api.ts';
import { publishReferencePage, referencePage } from './open-api/reference-page.ts';
import { measureAnswers } from './request-metrics.ts';
import { compilers } from './schema-compilers.ts';
import { headersOfData } from './security-headers.ts';

const MAX_FRAME_BYTES = 1_048_576;
const MAX_FRAGMENTS = 64;

export type HttpOptions = {
  readonly auth: Omit<AuthDeps, 'tokens'>;
  readonly sockets: SocketLimit;
  readonly logger: FastifyBaseLogger;
  readonly signingKeys: SigningKeys;
  /** Proxies whose X-Forwarded-For is trusted; empty for none. */
  readonly trustProxy: readonly string[];
  readonly version: string;
  /** Limit of this process's open files; null for no limit. */
  readonly openFiles: number | null;
  /** Users reach the service by https. */
  readonly overHttps: boolean;
};

/** Registers routes; the composition root passes one function per part of the interface. */
export type Routes = (http: Http, tokens: LoginTokens) => void;

/** Registers several groups of routes as one. */
export const joinRoutes =
  (...groups: readonly Routes[]): Routes =>
  (http, tokens) => {
    for (const register of groups) register(http, tokens);
  };

const SERVER = {
  genReqId: () => randomUUID(),
  frameworkErrors: onBadAddress,
  // The authentication hook refuses them like all others.
  return503OnClosing: false,
  bodyLimit: 65_536,
  requestTimeout: 0,
  routerOptions: { maxParamLength: 128 },
  http: {
    headersTimeout: 10_000,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: 16_384,
    // Else reading to the end of no body takes a tenth of a small request.
    optimizeEmptyRequests: true,
  },
  schemaController: { compilersFactory: compilers },
  // Without Ajv's own optimization: it takes a third of the first request's compilation, and V8 does as much.
  ajv: {
    customOptions: {
      coerceTypes: false,
      removeAdditional: false,
      allErrors: true,
      code: { optimize: false },
    },
  },
} satisfies FastifyHttpOptions<Server>;

/** The server with what all routes share: limits, headers, errors, authentication. */
export async function httpServer(options: HttpOptions, routes: readonly Routes[]): Promise<Http> {
  const { trustProxy } = options;
  const http: Http = Fastify({
    ...SERVER,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 && [...trustProxy],
  });
  shareLogger(http, options.logger);
  http.setErrorHandler(onError);
  http.setNotFoundHandler(onNotFound);
  workOneAtATime(http);
  limitUnreadAnswers(http);
  refuseUpgradesAtClose(http);
  workBeforeSocketsClose(http);
  acceptEmptyJson(http);
  onArrival(http, [
    measureAnswers(options.auth.metrics),
    headersOfData,
    endRefusedUpgrades(http),
    forgetTypeOfNothing,
    ...(options.openFiles === null ? [] : [limitConnections(http, connectionBudget(options.openFiles))]),
    limitBodies(),
    allowCrossOrigin(options.auth.allowedOrigins),
  ]);
  logAnswers(http, options.logger);
  const tokens = await loginTokens(http, options.signingKeys);
  await openApi(http, options.version);
  await publishReferencePage(http, options.overHttps);
  registerAuthentication(http, { ...options.auth, tokens });
  refuseOtherUpgrades(http);
  limitSocketsByAddress(http, options.sockets);
  await referencePage(http);
  await registerRoutes(http, routes, tokens);
  return http;
}

/** The WebSocket plugin is in a scope of the sockets: its hooks would cost every request. */
async function registerRoutes(http: Http, routes: readonly Routes[], tokens: LoginTokens): Promise<void> {
  await http.register(async (plain) => {
    await plain.register(async (sockets) => {
      await sockets.register(fastifyWebsocket, { options: SOCKET_OPTIONS });
      plain.decorate('sockets', sockets);
      for (const register of routes) register(plain.withTypeProvider() as Http, tokens);
      http.decorate('websocketServer', sockets.websocketServer);
      http.decorate('injectWS', sockets.injectWS);
    });
  });
}

/** Never the offered one with a token. */
const pickProtocol = (offered: Set<string>): string | false =>
  [...offered].find((name) => name.startsWith('berth.')) ?? false;

const SOCKET_OPTIONS = {
  maxPayload: MAX_FRAME_BYTES,
  // missing in the library's types
  ...({ maxFragments: MAX_FRAGMENTS } as object),
  perMessageDeflate: false,
  handleProtocols: pickProtocol,
};

/**
 * A logger per request costs as much as authentication, and most requests log nothing. Fastify is not given it as its
 * own, since it would then watch the end of each answer.
 */
function shareLogger(http: Http, logger: FastifyBaseLogger): void {
  http.log = logger;
  http.setChildLoggerFactory(() => logger);
}

/** Installed only for that log level: a hook costs each request. */
function logAnswers(http: Http, { level }: FastifyBaseLogger): void {
  if (!['debug', 'trace'].includes(level)) return;
  http.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    const fields = { method, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime };
    request.log.debug({ reqId: request.id, ...fields }, 'request answered');
  });
}

/** An empty body with a JSON content type counts as none; prototype poisoning is a 400. */
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

/**
 * Without a body its type means nothing. Node.js has ended the body before it is read, so a parser chosen by the type
 * would wait for the end forever.
 */
const forgetTypeOfNothing: ArrivalStep = ({ raw }) => {
  if (raw.readableEnded && raw.headers['content-type'] !== undefined) delete raw.headers['content-type'];
};

const bodyOrEmpty: preValidationHookHandler = (request, _reply, done) => {
  request.body ??= {};
  done();
};
