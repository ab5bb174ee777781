import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Caller, Origin } from '../../domain/identity/caller.ts';
import type { RouteScope } from '../../domain/identity/scope.ts';
import type { LastingUse, UseLimits } from '../../domain/identity/use-limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. A route without one stops the start. */
    scope?: RouteScope;
    /** Programs on this machine need no credential; everybody else needs what the scope says. */
    localToo?: boolean;
    /** Public, and says more to administrators: their credential is looked at, and any other is as good as none. */
    knowsAdmins?: boolean;
    /** A session whose screen is locked may use the route all the same. */
    whileLocked?: boolean;
    /** The interface's words for a fault behind this route. */
    failure?: string;
    /** The interface gives these words to a failure of the database as well, which is 503 elsewhere. */
    failureOfDatabase?: boolean;
    /** Credentials may come as WebSocket subprotocols, the first of which is this one. */
    subprotocol?: string;
    /** Counted for the user as long as it lasts, and refused above the tier's limit. */
    lasting?: LastingUse;
    /** The body may take its time; the route itself ends one that stalls. */
    slowBody?: boolean;
  }
  interface FastifyInstance {
    /** What every route asks for, by method and pattern. */
    routeScopes: ReadonlyMap<string, RouteScope>;
  }
  interface FastifyRequest {
    /** Set by the authentication hook for every scope but `public`. */
    caller: Caller;
    /** Set with the caller: what its user may do in a minute and at once. */
    limits: UseLimits;
    /** Where the request came from. */
    origin: Origin;
  }
}

/** A Fastify instance whose schemas type its handlers. */
export type Http = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
