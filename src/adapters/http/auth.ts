import type { FastifyRequest } from 'fastify';
import type { Authenticator } from '../../app/authenticate.ts';
import { authorize, type Caller } from '../../domain/caller.ts';
import { Refusal } from '../../domain/errors.ts';
import { bearerOf } from './credentials.ts';
import { orThrow } from './errors.ts';
import type { LoginTokens } from './login-token.ts';
import type { Http } from './types.ts';

const MAX_USER_AGENT = 512;

export type AuthDeps = {
  readonly authenticator: Authenticator;
  readonly tokens: LoginTokens;
  /** Origins that a browser may send; others are refused before anything else is looked at. */
  readonly allowedOrigins: ReadonlySet<string>;
};

/** One hook for plain requests and upgrades alike: origin, credential, scope, in this order. */
export function authenticateEverything(http: Http, deps: AuthDeps): void {
  http.addHook('onRoute', (route) => {
    if (route.config?.scope === undefined) {
      throw new Error(`route ${String(route.method)} ${route.url} declares no scope`);
    }
  });
  http.decorateRequest('caller', null as unknown as Caller);
  http.decorateRequest('origin', null as never);
  http.addHook('onRequest', async (request) => {
    request.origin = { ipAddress: request.ip, userAgent: printable(request.headers['user-agent'] ?? '') };
    const { origin } = request.headers;
    if (origin !== undefined && changes(request) && !deps.allowedOrigins.has(origin)) {
      throw new Refusal({ code: 'origin_not_allowed' });
    }
    const { scope, whileLocked } = request.routeOptions.config;
    if (scope === undefined || scope === 'public') return;
    request.caller = orThrow(authorize(await identify(request, deps), scope, whileLocked));
  });
}

async function identify(request: FastifyRequest, { authenticator, tokens }: AuthDeps): Promise<Caller> {
  const bearer = bearerOf(request);
  const claims = bearer === null ? null : tokens.verify(bearer);
  if (claims === null) throw new Refusal({ code: 'unauthorized' });
  return orThrow(await authenticator.bySession(claims.sessionId, claims.userId));
}

/** Reading across origins is for the browser to forbid; a change or a socket is for us. */
const changes = (request: FastifyRequest): boolean =>
  (request.method !== 'GET' && request.method !== 'HEAD') || request.headers.upgrade !== undefined;

/** Control characters are dropped so that a record cannot forge lines or drive a terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '').slice(0, MAX_USER_AGENT);
