import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, Soon } from '../../../app/identity/auth/authenticator.ts';
import type { Authenticated } from '../../../app/identity/auth/verified-credential.ts';
import type { ConcurrentUse } from '../../../app/identity/limits/concurrent-use.ts';
import type { RequestLimits } from '../../../app/identity/limits/request-limits.ts';
import { type DomainError, Refusal } from '../../../domain/errors.ts';
import {
  admitRestricted,
  authorize,
  type Caller,
  credentialId,
  isRestricted,
} from '../../../domain/identity/caller.ts';
import { requestCost } from '../../../domain/identity/request-rate.ts';
import type { RouteScope } from '../../../domain/identity/scope.ts';
import { TOKEN_START } from '../../../domain/identity/token.ts';
import type { UseLimits } from '../../../domain/identity/use-limits.ts';
import { type Result, refuse } from '../../../domain/result.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import { noticeAnswers, releaseAtEnd } from '../connections/concurrent-use.ts';
import type { Http } from '../fastify-types.ts';
import { credentialKind } from '../request-metrics.ts';
import { bearerOf } from './bearer-token.ts';
import { isLocal } from './local-requests.ts';
import type { LoginTokens } from './login-token.ts';
import { tokenOf } from './presented-tokens.ts';
import { addressOf, originOf } from './request-origin.ts';

export type AccessLimits = {
  readonly requests: RequestLimits;
  readonly uses: ConcurrentUse;
  /** Requests per minute without a credential, of one address. */
  readonly perAddress: () => Promise<number>;
};

export type AuthDeps = {
  readonly authenticator: Authenticator;
  readonly tokens: LoginTokens;
  readonly limits: AccessLimits;
  readonly metrics: Metrics;
  /** Whether the service is stopping and refuses new requests. */
  readonly isDraining: () => boolean;
  /** Whether local programs read the metrics without a credential. */
  readonly localMetrics: boolean;
  /** Allowed `Origin` headers; others are refused first. */
  readonly allowedOrigins: ReadonlySet<string>;
};

/** One hook for plain requests and upgrades: origin, credential, request limit, scope and concurrent use, in this order. */
export function registerAuthentication(http: Http, deps: AuthDeps): void {
  const declared = new Map<string, RouteScope>();
  http.decorate('routeScopes', declared);
  http.addHook('onRoute', ({ method, url, config }) => {
    if (config?.scope === undefined) throw new Error(`route ${String(method)} ${url} declares no scope`);
    for (const each of [method].flat()) declared.set(`${each} ${url}`, config.scope);
  });
  noticeAnswers(http);
  http.decorateRequest('caller', null as unknown as Caller);
  http.decorateRequest('limits', null as unknown as UseLimits);
  // Computed on demand, since most requests do not need it.
  http.decorateRequest('origin', {
    getter() {
      return originOf(this);
    },
  });
  // Not async: a request with a cached credential continues without a promise.
  http.addHook('onRequest', (request, reply, done) => {
    if (deps.isDraining()) {
      reply.header('connection', 'close');
      return done(new Refusal({ code: 'service_restarting' }));
    }
    const { origin } = request.headers;
    if (origin !== undefined && changes(request) && !deps.allowedOrigins.has(origin)) {
      return done(new Refusal({ code: 'origin_not_allowed' }));
    }
    const { config } = request.routeOptions;
    const { scope, localToo, knowsAdmins } = config;
    if (localToo && deps.localMetrics && isLocal(request)) return done();
    if (knowsAdmins && bearerOf(request) !== null) {
      void noticeAdmin(request, deps).then(() => done());
      return;
    }
    if (scope === undefined || scope === 'public') return limitByAddress(request, deps, done);
    const found = identify(request, scope, deps);
    if (found instanceof Promise)
      found.then((one) => done(authorizeRequest(request, reply, one, config, deps)), done);
    else done(authorizeRequest(request, reply, found, config, deps));
  });
}

type Done = (error?: Error) => void;

/** Sets the caller if it is an administrator. Never throws: the route reports a missing database. */
async function noticeAdmin(request: FastifyRequest, deps: AuthDeps): Promise<void> {
  try {
    const bearer = bearerOf(request) ?? '';
    const credential = bearer.startsWith(TOKEN_START) ? tokenOf(request, bearer) : deps.tokens.verify(bearer);
    const caller = credential === null ? null : await deps.authenticator.withoutUse(credential);
    if (caller !== null && !isRestricted(caller) && authorize(caller, 'admin').ok) request.caller = caller;
  } catch (err) {
    request.log.debug({ err }, 'could not check for administrator rights');
  }
}

/** Requests without a credential count by address if they may change something. */
function limitByAddress(
  request: FastifyRequest,
  { limits: { requests, perAddress } }: AuthDeps,
  done: Done,
): void {
  if (request.method !== 'POST') {
    done();
    return;
  }
  const key = requests.keyOfAddress(addressOf(request));
  perAddress()
    .then((perMinute) => requests.admit(key, perMinute))
    .then((admitted) => (admitted.ok ? done() : done(new Refusal(admitted.error))), done);
}

function authorizeRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Result<Authenticated, DomainError>,
  config: FastifyContextConfig,
  deps: AuthDeps,
): Refusal | undefined {
  const refusal = admitCaller(request, reply, found, config, deps);
  deps.metrics.authenticated(
    found.ok ? found.value.caller.credential.kind : credentialKind(request),
    refusal?.error.code ?? 'ok',
  );
  return refusal;
}

/** Admits the caller, or refuses. */
function admitCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Result<Authenticated, DomainError>,
  config: FastifyContextConfig,
  { limits: { requests, uses } }: AuthDeps,
): Refusal | undefined {
  if (!found.ok) return new Refusal(found.error);
  const { caller, requestsPerMinute, limits: ofUser } = found.value;
  const { scope = 'login', whileLocked, forRestricted, lasting: use } = config;
  const asked = [
    { key: credentialId(caller.credential), perMinute: requestsPerMinute },
    { key: `user ${caller.user.id}`, perMinute: ofUser.requestsPerMinute },
  ];
  if (ofUser.requestsPerMinute > 0) reply.header('ratelimit-policy', `${ofUser.requestsPerMinute};w=60`);
  const room = requests.admitFor(asked, costOf(request));
  if (!room.ok) return new Refusal(room.error);
  const allowed = authorize(caller, scope, whileLocked);
  if (!allowed.ok) return new Refusal(allowed.error);
  const admitted = admitRestricted(caller, forRestricted);
  if (!admitted.ok) return new Refusal(admitted.error);
  if (use !== undefined) {
    const taken = uses.take(caller.user.id, use, ofUser);
    if (!taken.ok) return new Refusal(taken.error);
    releaseAtEnd(request, reply, taken.value);
  }
  request.caller = caller;
  request.limits = ofUser;
  return undefined;
}

/** Parsed bodies count by their size, or by the route's limit without one. */
function costOf(request: FastifyRequest): number {
  const { headers } = request;
  if (headers['content-type']?.startsWith('application/json') !== true) return 1;
  const { routeOptions } = request;
  const bytes = Number(headers['content-length'] ?? routeOptions.bodyLimit ?? 0);
  return requestCost(Number.isFinite(bytes) ? Math.min(bytes, routeOptions.bodyLimit ?? bytes) : 0);
}

function identify(
  request: FastifyRequest,
  scope: RouteScope,
  { authenticator, tokens }: AuthDeps,
): Soon<Result<Authenticated, DomainError>> {
  const bearer = bearerOf(request);
  if (bearer?.startsWith(TOKEN_START)) return authenticator.byApiToken(tokenOf(request, bearer));
  // A route for API tokens refuses any other credential as invalid.
  if (scope === 'api_token' && request.headers.authorization !== undefined) {
    return refuse({ code: 'api_token_rejected' });
  }
  const claims = bearer === null ? null : tokens.verify(bearer);
  return claims === null
    ? refuse({ code: 'unauthorized' })
    : authenticator.bySession(claims.sessionId, claims.userId);
}

/** Browsers forbid reading across origins; we refuse changes and sockets. */
const changes = (request: FastifyRequest): boolean =>
  (request.method !== 'GET' && request.method !== 'HEAD') || request.headers.upgrade !== undefined;
