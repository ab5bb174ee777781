import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { authRoutes } from '../../adapters/http/routes/auth.ts';
import { catalogueRoutes } from '../../adapters/http/routes/catalogue.ts';
import { containerRoutes } from '../../adapters/http/routes/containers.ts';
import { execRoutes } from '../../adapters/http/routes/exec.ts';
import { meRoutes } from '../../adapters/http/routes/me.ts';
import { settingsRoutes } from '../../adapters/http/routes/settings.ts';
import { systemRoutes } from '../../adapters/http/routes/system.ts';
import { tokenRoutes } from '../../adapters/http/routes/tokens.ts';
import type { ReadyBody } from '../../adapters/http/schema/system.ts';
import { httpServer, type Routes } from '../../adapters/http/server.ts';
import { staticFiles } from '../../adapters/http/static.ts';
import type { Http } from '../../adapters/http/types.ts';
import { terminalSocket } from '../../adapters/websocket/terminal-socket.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ContainerRuntime } from '../../ports/container-runtime.ts';
import type { PasswordHasher } from '../../ports/password-hasher.ts';
import type { Storage } from '../../ports/repositories.ts';
import type { TerminalBackend } from '../../ports/terminal-backend.ts';
import { accounts } from '../accounts.ts';
import { authenticator } from '../authenticate.ts';
import { containers } from '../containers/index.ts';
import { reconcile } from '../containers/reconcile.ts';
import { type Operations, operations } from '../operations/submit.ts';
import { requestLimits } from '../request-limits.ts';
import { settingsService } from '../settings.ts';
import { signIn } from '../sign-in.ts';
import { terminals } from '../terminals.ts';
import { apiTokens } from '../tokens.ts';
import type { Keys } from './keys.ts';

/** Everything outside that the service needs, behind ports. */
export type Ports = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  readonly runtimeNode: string;
  readonly terminalBackend: TerminalBackend;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
  readonly bus: Bus;
  /** Milliseconds that never jump; the process's own unless a test says otherwise. */
  readonly monotonicMs?: () => number;
};

export type ComposeOptions = {
  readonly logger: FastifyBaseLogger;
  readonly keys: Keys;
  readonly version: string;
  /** Read at each request, so that the address that was really bound can be added after the listen. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly trustProxy: readonly string[];
  readonly secureCookie: boolean;
  readonly readiness: () => Promise<ReadyBody>;
  readonly createWaitMs: number;
  /** How long a fresh container of an update is watched before it counts as up. */
  readonly verifyMs: number;
  /** Called before and after each step of an operation; tests of faults end the process there. */
  readonly checkpoint?: (name: string) => Promise<void>;
  /** Folder of the built browser app; null for none. */
  readonly webRoot: string | null;
};

export type Service = {
  readonly http: Http;
  readonly accounts: ReturnType<typeof accounts>;
  readonly terminals: ReturnType<typeof terminals>;
  readonly operations: Pick<Operations, 'renew' | 'takeOver' | 'idle'>;
  /** Makes the rows agree with the engine. */
  readonly reconcile: () => Promise<void>;
  /** Tells the other processes of requests, and writes the uses that are due; for a timer. */
  readonly writeDue: () => Promise<void>;
  /** Writes what is still only in memory. */
  readonly flush: () => Promise<void>;
};

/** Wires the use cases to the ports and puts HTTP in front of them. */
export async function compose(ports: Ports, options: ComposeOptions): Promise<Service> {
  const { storage, hasher, clock } = ports;
  const log = options.logger;
  const login = signIn({ storage, hasher, refreshKey: options.keys.refresh });
  const people = accounts({ storage, hasher });
  const { repositories } = storage;
  const monotonicMs = ports.monotonicMs ?? (() => performance.now());
  const auth = authenticator({ storage, bus: ports.bus, monotonicMs });
  const counts = repositories.requestCounts;
  const limits = requestLimits({ counts, monotonicMs, startMs: clock.now().getTime() });
  const tokens = apiTokens({ storage, bus: ports.bus, pendingUse: auth.pendingUse });
  const shells = terminals({ storage, backend: ports.terminalBackend, clock });
  const work = operations({
    storage,
    runtime: ports.runtime,
    terminals: shells,
    log,
    owner: randomUUID(),
    checkpoint: options.checkpoint ?? (async () => {}),
    verifyMs: options.verifyMs,
  });
  const containerDeps = {
    storage,
    runtime: ports.runtime,
    runtimeNode: ports.runtimeNode,
    clock,
    operations: work,
    log,
    createWaitMs: options.createWaitMs,
  };
  const boxes = containers(containerDeps);
  const sockets: Routes = (http) =>
    terminalSocket(http, {
      terminals: shells,
      log,
      stillAllowed: ({ caller }) => auth.holds(caller),
    });
  const access = {
    authenticator: auth,
    limits,
    requestsPerMinute: async () => (await repositories.settings.read()).requestsPerMinute,
  };

  const http = await httpServer({ ...options, ...access, jwtKey: options.keys.jwt }, [
    systemRoutes(options),
    authRoutes({ accounts: people, signIn: login, secureCookie: options.secureCookie }),
    meRoutes(),
    settingsRoutes(settingsService(storage, ports.bus)),
    tokenRoutes(tokens),
    catalogueRoutes(repositories.catalogue),
    containerRoutes(boxes, () => ports.runtime.capabilities.diskQuota),
    execRoutes(boxes),
    sockets,
  ]);
  if (options.webRoot !== null) await staticFiles(http, options.webRoot);
  return {
    http,
    accounts: people,
    terminals: shells,
    operations: work,
    reconcile: reconcile(containerDeps),
    writeDue: async () => void (await Promise.all([limits.flush(), auth.flush()])),
    flush: async () => void (await Promise.all([limits.flush(), auth.flushAll()])),
  };
}
