import { AsyncLocalStorage } from 'node:async_hooks';
import type { InjectOptions, RouteOptions } from 'fastify';
import type { Http } from '../../../src/adapters/http/fastify-types.ts';
import { type HttpOptions, httpServer, type Routes } from '../../../src/adapters/http/server.ts';
import type { AnswerCount, Metrics } from '../../../src/ports/metrics.ts';

// Building the routes costs ten times as much as the rest of a service. So the services of a test process share one
// application: its routes and its authentication call the functions of the service into which a request is injected.

type Functions = Map<string, (...args: never[]) => unknown>;
type Served = {
  readonly auth: HttpOptions['auth'];
  readonly functions: Functions;
  readonly countOf: Metrics['httpRoute'];
};
type FunctionsOf = (routes: readonly Routes[]) => Functions;
type Shared = { readonly app: Http; readonly functionsOf: FunctionsOf };

const serving = new AsyncLocalStorage<Served>();

function served(): Served {
  const service = serving.getStore();
  if (service === undefined) throw new Error('the request was injected into no service');
  return service;
}

let shared: Promise<Shared> | null = null;

/**
 * Replaces `httpServer` for services whose HTTP options and schemas do not differ. Requests are injected into the
 * shared application; a service that listens gets a server of its own.
 */
export async function sharedServer(options: HttpOptions, routes: readonly Routes[]): Promise<Http> {
  shared ??= build(options, routes);
  const { app, functionsOf } = await shared;
  const { auth } = options;
  const service = { auth, functions: functionsOf(routes), countOf: oncePerRoute(auth.metrics) };
  return serverOf(app, service, () => httpServer(options, routes));
}

/** As the hook of a server of its own would, asks the metrics once for each route's count. */
function oncePerRoute(metrics: Metrics): Metrics['httpRoute'] {
  const counts = new Map<string, AnswerCount>();
  return (method, route) => {
    const key = `${method} ${route}`;
    const count = counts.get(key) ?? metrics.httpRoute(method, route);
    counts.set(key, count);
    return count;
  };
}

/** The application with the routes of the first service. */
async function build(options: HttpOptions, routes: readonly Routes[]): Promise<Shared> {
  let functionsOf: FunctionsOf | null = null;
  const app = await httpServer({ ...options, auth: lateAuth(options.auth) }, [
    (http, tokens) => {
      for (const register of routes) register(withSockets(http, calledLate), tokens);
      functionsOf = (ofService) => {
        const functions: Functions = new Map();
        const collect = (scope: Http): Http => collecting(scope, functions);
        for (const register of ofService) register(withSockets(http, collect), tokens);
        return functions;
      };
    },
  ]);
  await app.ready();
  if (functionsOf === null) throw new Error('no route was registered');
  return { app, functionsOf };
}

/** Both scopes of routes. */
const withSockets = (http: Http, through: (scope: Http) => Http): Http =>
  Object.assign(through(http), { sockets: through(http.sockets as Http) });

/** What the hooks call, of the service that is served. */
const lateAuth = (auth: HttpOptions['auth']): HttpOptions['auth'] => ({
  ...auth,
  authenticator: late(() => served().auth.authenticator),
  isDraining: () => served().auth.isDraining(),
  metrics: {
    ...auth.metrics,
    authenticated: (...args) => served().auth.metrics.authenticated(...args),
    httpRoute:
      (...route) =>
      (...answer) =>
        served().countOf(...route)(...answer),
  },
  accessLimits: {
    requests: late(() => served().auth.accessLimits.requests),
    concurrentUse: late(() => served().auth.accessLimits.concurrentUse),
    perAddress: () => served().auth.accessLimits.perAddress(),
  },
});

const late = <T extends object>(find: () => T): T =>
  new Proxy({} as T, {
    get(_, key) {
      const target = find();
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

const SHORTHANDS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;

/** The same scope, whose routes go to `add` instead. */
function withRoutes(scope: Http, add: (route: RouteOptions) => void, rest: object): Http {
  const shorthand = (method: string) => (url: string, options: object, handler: unknown) => {
    add({ ...options, method, url, handler } as RouteOptions);
  };
  const shorthands = Object.entries(SHORTHANDS).map(([name, method]) => [name, shorthand(method)]);
  return Object.assign(Object.create(scope), Object.fromEntries(shorthands), { route: add, ...rest });
}

type Plugin = (scope: Http) => unknown;

/** Registers the routes with functions that call those of the service that is served. */
const calledLate = (scope: Http): Http =>
  withRoutes(
    scope,
    (route) => {
      const functions = [...functionsIn(route)].map(([name, key]) => [name, callOf(key)]);
      scope.route({ ...route, ...Object.fromEntries(functions) });
    },
    { register: (plugin: Plugin) => scope.register(async (inner) => plugin(calledLate(inner as Http))) },
  );

/** Registers nothing, and adds the routes' functions to the map. */
function collecting(scope: Http, functions: Functions): Http {
  const nothing = (): Http => inner;
  const inner: Http = withRoutes(
    scope,
    (route) => {
      for (const [, key, value] of functionsIn(route)) functions.set(key, value);
    },
    {
      register: (plugin: Plugin) => plugin(inner),
      addHook: nothing,
      addContentTypeParser: nothing,
      removeAllContentTypeParsers: nothing,
    },
  );
  return inner;
}

/** Called when the routes are built. */
const COMPILERS: ReadonlySet<string> = new Set(['validatorCompiler', 'serializerCompiler']);

/** Handlers and hooks: the name of each, a key that is the same in every service, and the function. */
function* functionsIn(
  route: RouteOptions,
): Generator<[name: string, key: string, (...args: never[]) => unknown]> {
  for (const [name, value] of Object.entries(route))
    if (typeof value === 'function' && !COMPILERS.has(name))
      yield [name, `${route.method} ${route.url} ${name}`, value];
}

const callOf = (key: string) =>
  function call(this: unknown, ...args: never[]): unknown {
    const own = served().functions.get(key);
    if (own === undefined) throw new Error(`the service has no ${key}`);
    return own.apply(this, args);
  };

/** The server as a test sees it. */
function serverOf(app: Http, service: Served, make: () => Promise<Http>): Http {
  let own: Http | null = null;
  const shared = {
    // awaited here: the request begins when it is
    inject: (request: InjectOptions | string) => serving.run(service, async () => await app.inject(request)),
    ready: async () => {},
    close: async () => {},
    addresses: () => [],
    listen: async (...args: Parameters<Http['listen']>) => {
      own = await make();
      return await own.listen(...args);
    },
    routeScopes: app.routeScopes,
    log: app.log,
  };
  return new Proxy({} as Http, {
    get(_, key) {
      const value: unknown = Reflect.get(own ?? shared, key);
      if (own === null && value === undefined && key !== 'then')
        throw new Error(`listen before using ${String(key)}`);
      return typeof value === 'function' ? value.bind(own ?? shared) : value;
    },
  });
}
