import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, MaybePromise } from '../../../app/identity/auth/authenticator.ts';
import type { Authenticated } from '../../../app/identity/auth/verified-credential.ts';
import { countedAs, ratesOf } from '../../../app/identity/auth/verified-credential.ts';
import type { ConcurrentUse } from '../../../app/identity/limits/concurrent-use.ts';
import type { RequestLimits } from '../../../app/identity/limits/request-limits.ts';
import { type DomainError, Refusal } from '../../../domain/errors.ts';
import {
  admitBarred,
  admitRestricted,
  authorize,
  type Caller,
  isRestricted,
} from '../../../domain/identity/caller.ts';
import { requestCost } from '../../../domain/identity/request-rate.ts';
import type { RouteScope } from '../../../domain/identity/scope.ts';
import { TOKEN_START } from '../../../domain/identity/token.ts';
import type { UseLimits } from '../../../domain/identity/use-limits.ts';
import { type Result, refuse } from '../../../domain/result.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import { releaseAtEnd, trackAnswers } from '../connections/concurrent-use.ts';
import type { Http } from '../fastify-types.ts';
import { credentialKind } from '../request-metrics.ts';
import { bearerOf } from './bearer-token.ts';
import { isLocal } from './local-requests.ts';
import type { LoginTokens } from './login-token.ts';
import { tokenOf } from './presented-tokens.ts';
import { addressOf, originOf } from './request-origin.ts';

/** Requests per user and minute that each make a record: far more than anyone needs. */
const RECORDS_PER_USER = 120;

export type AccessLimits = {
  readonly requests: RequestLimits;
  readonly concurrentUse: ConcurrentUse;
  /** Requests per minute without a credential, of one address. */
  readonly perAddress: () => Promise<number>;
};

export type AuthDeps = {
  readonly authenticator: Authenticator;
  readonly tokens: LoginTokens;
  readonly accessLimits: AccessLimits;
  readonly metrics: Metrics;
  /** Whether the service is stopping and refuses new requests. */
  readonly isDraining: () => boolean;
  /** Whether local programs read the metrics without a credential. */
  readonly localMetrics: boolean;
  /** Allowed `Origin` headers; others are refused first. */
  readonly allowedOrigins: ReadonlySet<string>;
};

/**
 * One hook for plain requests and upgrades. It checks in this order: whether the service stops, the `Origin` header, the
 * credential, the request limit, the scope, a restricted token, concurrent use. Sockets per address are counted later.
 */
export function registerAuthentication(http: Http, deps: AuthDeps): void {
  const declared = new Map<string, RouteScope>();
  http.decorate('routeScopes', declared);
  http.addHook('onRoute', ({ method, url, config }) => {
    if (config?.scope === undefined) throw new Error(`route ${String(method)} ${url} declares no scope`);
    for (const each of [method].flat()) declared.set(`${each} ${url}`, config.scope);
  });
  trackAnswers(http);
  // Fastify wants each field before the first request. No handler that reads these runs without a caller.
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
    const { origin: originHeader } = request.headers;
    if (originHeader !== undefined && needsAllowedOrigin(request) && !deps.allowedOrigins.has(originHeader)) {
      return done(new Refusal({ code: 'origin_not_allowed' }));
    }
    const { config } = request.routeOptions;
    const { scope, allowsLocal, detailsForAdmins } = config;
    if (allowsLocal && deps.localMetrics && isLocal(request)) return done();
    if (detailsForAdmins && bearerOf(request) !== null) {
      void setCallerIfAdmin(request, deps).then(() => done());
      return;
    }
    if (scope === undefined || scope === 'public') return limitByAddress(request, deps, done);
    const found = identify(request, scope, deps);
    if (found instanceof Promise)
      found.then((one) => done(countAdmission(request, reply, one, config, deps)), done);
    else done(countAdmission(request, reply, found, config, deps));
  });
}

type Done = (error?: Error) => void;

const mayAdminister = (caller: Caller): boolean =>
  authorize(caller, 'admin').ok && admitBarred(caller, 'admin').ok;

/** Sets the caller if it is an administrator. Never throws: the route reports a missing database. */
async function setCallerIfAdmin(request: FastifyRequest, deps: AuthDeps): Promise<void> {
  try {
    const bearer = bearerOf(request) ?? '';
    const credential = bearer.startsWith(TOKEN_START) ? tokenOf(request, bearer) : deps.tokens.verify(bearer);
    const caller = credential === null ? null : await deps.authenticator.withoutUse(credential);
    if (caller !== null && !isRestricted(caller) && mayAdminister(caller)) request.caller = caller;
  } catch (err) {
    request.log.debug({ err }, 'could not check for administrator rights');
  }
}

/** Requests without a credential count by address if they may change something. */
function limitByAddress(
  request: FastifyRequest,
  { accessLimits: { requests, perAddress } }: AuthDeps,
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

/** Admits the caller, or refuses; counted for the metrics. */
function countAdmission(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Result<Authenticated, DomainError>,
  config: FastifyContextConfig,
  deps: AuthDeps,
): Refusal | undefined {
  const refusal = admit(request, reply, found, config, deps);
  deps.metrics.authenticated(
    found.ok ? found.value.caller.credential.kind : credentialKind(request),
    refusal?.error.code ?? 'ok',
  );
  return refusal;
}

/** Checks all that follows from the caller, and sets it on the request. */
function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Result<Authenticated, DomainError>,
  config: FastifyContextConfig,
  { accessLimits: { requests, concurrentUse } }: AuthDeps,
): Refusal | undefined {
  if (!found.ok) return new Refusal(found.error);
  const { caller, requestsPerMinute, limits: userLimits } = found.value;
  const {
    scope = 'login',
    whileLocked,
    forRestricted,
    shutAfterReset,
    makesRecord,
    lasting: lastingUse,
  } = config;
  if (requestsPerMinute > 0 || userLimits.requestsPerMinute > 0) {
    const counted = requests.admitFor(ratesOf(found.value), costOf(request));
    if (userLimits.requestsPerMinute > 0)
      reply.header('ratelimit-policy', `${userLimits.requestsPerMinute};w=60`);
    if (!counted.ok) return new Refusal(counted.error);
  }
  const authorized = authorize(caller, scope, whileLocked);
  if (!authorized.ok) return new Refusal(authorized.error);
  for (const admitted of [admitBarred(caller, scope, shutAfterReset), admitRestricted(caller, forRestricted)])
    if (!admitted.ok) return new Refusal(admitted.error);
  if (makesRecord) {
    const counted = requests.admit(`records of ${countedAs(caller)}`, RECORDS_PER_USER);
    if (!counted.ok) return new Refusal(counted.error);
  }
  if (lastingUse !== undefined) {
    const taken = concurrentUse.take(caller.user.id, lastingUse, userLimits);
    if (!taken.ok) return new Refusal(taken.error);
    releaseAtEnd(request, reply, taken.value);
  }
  request.caller = caller;
  request.limits = userLimits;
  return undefined;
}

/** Parsed bodies count by their size, or by the route's limit without one. */
function costOf(request: FastifyRequest): number {
  const { headers } = request;
  if (headers['content-type']?.toLowerCase().startsWith('application/json') !== true) return 1;
  const { routeOptions } = request;
  const bytes = Number(headers['content-length'] ?? routeOptions.bodyLimit ?? 0);
  return requestCost(Number.isFinite(bytes) ? Math.min(bytes, routeOptions.bodyLimit ?? bytes) : 0);
}

function identify(
  request: FastifyRequest,
  scope: RouteScope,
  { authenticator, tokens }: AuthDeps,
): MaybePromise<Result<Authenticated, DomainError>> {
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

/** Browsers stop other origins from reading answers, not from sending requests: changes and upgrades are refused here. */
const needsAllowedOrigin = (request: FastifyRequest): boolean =>
  (request.method !== 'GET' && request.method !== 'HEAD') || request.headers.upgrade !== undefined;
