import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { DomainErrorCode } from '../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../domain/identity/caller.ts';
import type { RouteScope } from '../../domain/identity/scope.ts';
import type { LastingUse, UseLimits } from '../../domain/identity/use-limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route without one stops the start. */
    scope?: RouteScope;
    /** Local programs need no credential; others need the scope. */
    allowsLocal?: boolean;
    /** Public, but more detailed for administrators; any other credential is ignored. */
    detailsForAdmins?: boolean;
    /** Open to tokens restricted to some containers: what the route reaches is only these. Others refuse them. */
    forRestricted?: boolean;
    /** Also open to a locked session. */
    whileLocked?: boolean;
    /** Shut to a barred session, as all routes for administrators are. */
    shutAfterReset?: boolean;
    /**
     * Each request makes an audit record: they are limited per user. Never set on a route that ends something: that
     * must not be limited.
     */
    makesRecord?: boolean;
    /** The words for a fault of this route. */
    failure?: string;
    /** The words also apply to a failing database, which is 503 elsewhere. */
    failureOfDatabase?: boolean;
    /** The route's WebSocket subprotocol, beside which a credential may be sent. */
    subprotocol?: string;
    /** Counts as this concurrent use of the user, up to the tier's limit. */
    lasting?: LastingUse;
    /** The body may be slow; the route ends a stalled one. */
    slowBody?: boolean;
  }
  interface FastifySchema {
    /** Refusals of the route itself, for the API document; those of its scope and method follow from them. */
    refusals?: readonly DomainErrorCode[];
    /** Other media types of the answer, for clients that accept them. */
    alsoAs?: readonly string[];
    /** The media type of a body without a schema. */
    takes?: string;
  }
  interface FastifyInstance {
    /** The scopes of all routes, by method and pattern. */
    routeScopes: ReadonlyMap<string, RouteScope>;
    /** The scope for routes with a WebSocket. */
    sockets: FastifyInstance;
  }
  interface FastifyRequest {
    /** Set by the authentication hook for every scope but `public`. */
    caller: Caller;
    /** Set with the caller: the user's limits. */
    limits: UseLimits;
    origin: RequestOrigin;
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
