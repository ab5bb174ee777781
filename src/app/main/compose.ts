import type { FastifyBaseLogger } from 'fastify';
import { adminTerminalRoutes } from '../../adapters/http/routes/admin-terminals.ts';
import { auditRoutes } from '../../adapters/http/routes/audit.ts';
import { catalogueRoutes } from '../../adapters/http/routes/catalogue.ts';
import { containerRoutes } from '../../adapters/http/routes/containers.ts';
import { execRoutes } from '../../adapters/http/routes/exec.ts';
import { fileRoutes } from '../../adapters/http/routes/files.ts';
import { insightRoutes } from '../../adapters/http/routes/insight.ts';
import { sessionRoutes } from '../../adapters/http/routes/sessions.ts';
import { settingsRoutes } from '../../adapters/http/routes/settings.ts';
import { sshKeyRoutes } from '../../adapters/http/routes/ssh-keys.ts';
import { systemRoutes } from '../../adapters/http/routes/system.ts';
import { tokenRoutes } from '../../adapters/http/routes/tokens.ts';
import { userRoutes } from '../../adapters/http/routes/users.ts';
import type { ReadyBody } from '../../adapters/http/schema/system.ts';
import { httpServer, type Routes } from '../../adapters/http/server.ts';
import { staticFiles } from '../../adapters/http/static.ts';
import type { Http } from '../../adapters/http/types.ts';
import { terminalSocket } from '../../adapters/websocket/terminal-socket.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ContainerCommands } from '../../ports/container-commands.ts';
import type { ContainerFiles } from '../../ports/container-files.ts';
import type { ContainerInsight } from '../../ports/container-insight.ts';
import type { ContainerRuntime } from '../../ports/container-runtime.ts';
import type { PasswordHasher } from '../../ports/password-hasher.ts';
import type { Storage } from '../../ports/repositories.ts';
import type { TerminalBackend } from '../../ports/terminal-backend.ts';
import { containerAccess } from '../access/index.ts';
import type { Accounts } from '../accounts.ts';
import { adminTerminals } from '../admin-terminals.ts';
import { announced } from '../announced.ts';
import { auditTrail } from '../audit.ts';
import { authenticator } from '../authenticate.ts';
import { containers } from '../containers/index.ts';
import { reconcile } from '../containers/reconcile.ts';
import { liveSockets } from '../live-sockets.ts';
import { type Operations, operations } from '../operations/submit.ts';
import { requestLimits } from '../request-limits.ts';
import { sessions } from '../sessions.ts';
import { settingsService } from '../settings.ts';
import { sshKeys } from '../ssh-keys.ts';
import { terminals } from '../terminals.ts';
import { apiTokens } from '../tokens.ts';
import { users } from '../users.ts';
import { identity } from './identity.ts';
import type { Keys } from './keys.ts';
import { addressOf } from './listening.ts';

/** Everything outside that the service needs, behind ports. */
export type Ports = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  readonly runtimeNode: string;
  readonly terminalBackend: TerminalBackend;
  readonly commands: ContainerCommands;
  readonly files: ContainerFiles;
  readonly insight: ContainerInsight;
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
  /** UUID of this process, the same after a restart. */
  readonly replica: string;
  /** Read at each request, so that the address that was really bound can be added after the listen. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly trustProxy: readonly string[];
  readonly secureCookie: boolean;
  /** The address that people open; null for where it listens. */
  readonly publicUrl: string | null;
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
  readonly accounts: Accounts;
  readonly terminals: ReturnType<typeof terminals>;
  readonly operations: Pick<Operations, 'renew' | 'takeOver' | 'idle'>;
  /** Makes the rows agree with the engine. */
  readonly reconcile: () => Promise<void>;
  /** Tells the other processes of requests, and writes the uses that are due; for a timer. */
  readonly writeDue: () => Promise<void>;
  /** Encrypts with the present key what an earlier one encrypted; how many no key opens. */
  readonly reseal: () => Promise<number>;
  /** Writes what is still only in memory. */
  readonly flush: () => Promise<void>;
};

/** Wires the use cases to the ports and puts HTTP in front of them. */
export async function compose(ports: Ports, options: ComposeOptions): Promise<Service> {
  const { clock } = ports;
  const storage = announced(ports.storage, ports.bus);
  const log = options.logger;
  const people = identity({ ...ports, storage }, options, () => options.publicUrl ?? addressBound(http));
  const { repositories } = storage;
  const monotonicMs = ports.monotonicMs ?? (() => performance.now());
  const auth = authenticator({ storage, bus: ports.bus, monotonicMs });
  const counts = repositories.requestCounts;
  const limits = requestLimits({ counts, monotonicMs, startMs: clock.now().getTime() });
  const tokens = apiTokens({ storage, pendingUse: auth.pendingUse });
  const shells = terminals({ storage, backend: ports.terminalBackend, clock });
  const work = operations({
    storage,
    runtime: ports.runtime,
    terminals: shells,
    log,
    owner: options.replica,
    checkpoint: options.checkpoint ?? (async () => {}),
    verifyMs: options.verifyMs,
  });
  const live = liveSockets({ bus: ports.bus, current: auth.current, log });
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
  const inside = containerAccess(ports);
  const sockets: Routes = (http) =>
    terminalSocket(http, {
      terminals: shells,
      log,
      live,
    });
  const access = {
    authenticator: auth,
    limits,
    requestsPerMinute: async () => (await repositories.settings.read()).requestsPerMinute,
  };

  const http = await httpServer({ ...options, ...access, signingKeys: options.keys.live }, [
    systemRoutes(options),
    ...people.routes,
    settingsRoutes(settingsService(storage, ports.bus)),
    tokenRoutes(tokens),
    sessionRoutes(sessions({ storage, pendingSeen: auth.pendingSeen })),
    auditRoutes(auditTrail(repositories)),
    userRoutes(users(storage, clock)),
    adminTerminalRoutes(adminTerminals({ storage, terminals: shells, clock }), options.replica),
    sshKeyRoutes(sshKeys(storage)),
    catalogueRoutes(repositories.catalogue),
    containerRoutes(boxes, () => ports.runtime.capabilities.diskQuota),
    execRoutes(boxes, inside),
    fileRoutes(inside),
    insightRoutes(inside),
    sockets,
  ]);
  if (options.webRoot !== null) await staticFiles(http, options.webRoot);
  return {
    http,
    accounts: people.accounts,
    reseal: people.reseal,
    terminals: shells,
    operations: work,
    reconcile: reconcile(containerDeps),
    writeDue: async () => void (await Promise.all([limits.flush(), auth.flush(), shells.writeDue()])),
    flush: async () => void (await Promise.all([limits.flush(), auth.flushAll()])),
  };
}

/** The address of a server that listens; nothing that can be opened before that. */
function addressBound(http: Http): string {
  const [bound] = http.addresses();
  return bound === undefined || typeof bound === 'string' ? '' : addressOf(bound.address, bound.port);
}
