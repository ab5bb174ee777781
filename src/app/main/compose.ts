import { randomUUID } from 'node:crypto';
import type { Http } from '../../adapters/http/fastify-types.ts';
import { adminCatalogueRoutes } from '../../adapters/http/routes/containers/admin-catalogue.ts';
import { catalogueRoutes } from '../../adapters/http/routes/containers/catalogue.ts';
import { sessionRoutes } from '../../adapters/http/routes/identity/sessions.ts';
import { sshKeyRoutes } from '../../adapters/http/routes/identity/ssh-keys.ts';
import { tokenRoutes } from '../../adapters/http/routes/identity/tokens.ts';
import { userRoutes } from '../../adapters/http/routes/identity/users.ts';
import { systemRoutes } from '../../adapters/http/routes/service/health.ts';
import { metricsRoutes } from '../../adapters/http/routes/service/metrics.ts';
import { settingsRoutes } from '../../adapters/http/routes/service/settings.ts';
import { adminTerminalRoutes } from '../../adapters/http/routes/terminals/admin-terminals.ts';
import { collaborationRoutes } from '../../adapters/http/routes/terminals/collaborations.ts';
import { httpServer, type Routes } from '../../adapters/http/server.ts';
import { staticFiles } from '../../adapters/http/web-app.ts';
import { eventFrame } from '../../adapters/websocket/events/event-frames.ts';
import { eventSocket } from '../../adapters/websocket/events/event-socket.ts';
import { terminalSocket } from '../../adapters/websocket/terminal/terminal-socket.ts';
import { xtermScreens } from '../../adapters/xterm/headless-terminals.ts';
import type { CloseReason } from '../../domain/terminals/terminal.ts';
import { actRecords } from '../audit/activity-records.ts';
import { type Collaborations, collaborations } from '../collaboration/collaborations.ts';
import { catalogueAdmin } from '../containers/catalogue.ts';
import { eventFeed } from '../events/event-feed.ts';
import { announced } from '../events/publishing-storage.ts';
import { forgetEnded } from '../history-cleanup.ts';
import { idempotency } from '../idempotency.ts';
import { sessions } from '../identity/account/sessions.ts';
import { sshKeys } from '../identity/account/ssh-keys.ts';
import { apiTokens } from '../identity/account/tokens.ts';
import { users } from '../identity/account/users.ts';
import { authenticator } from '../identity/auth/authenticator.ts';
import { authorizedConnections } from '../identity/auth/authorized-connections.ts';
import { lastingUses } from '../identity/limits/concurrent-use.ts';
import { requestLimits } from '../identity/limits/request-limits.ts';
import { addressSockets } from '../identity/limits/sockets-by-address.ts';
import type { Accounts } from '../identity/sign-in/registration.ts';
import type { Recordings } from '../recordings/recordings.ts';
import { settingsService } from '../settings.ts';
import { adminTerminals } from '../terminals/admin-terminals.ts';
import { outputSlots } from '../terminals/output/output-slots.ts';
import { terminalReaper } from '../terminals/terminal-reaper.ts';
import { terminals } from '../terminals/terminals.ts';
import type { ComposeOptions, Ports } from './compose-options.ts';
import { addressOf } from './process/listen-address.ts';
import { measured } from './wiring/instrument-ports.ts';
import { auditing } from './wiring/wire-audit.ts';
import { type WorkspaceWork, workspaces } from './wiring/wire-containers.ts';
import { identity } from './wiring/wire-identity.ts';
import { recording } from './wiring/wire-recordings.ts';

export type Service = WorkspaceWork & {
  readonly http: Http;
  readonly accounts: Accounts;
  readonly terminals: ReturnType<typeof terminals>;
  /** Ends what terminals of killed processes have left in containers; for a timer. */
  readonly reapTerminals: () => Promise<void>;
  readonly recordings: Pick<Recordings, 'takeOver' | 'sweep' | 'idle'>;
  /** From now on every new request is told to come back. */
  readonly drain: () => void;
  readonly collaborations: Pick<Collaborations, 'keep'>;
  /** Closes every event socket of this process. */
  readonly closeEvents: (reason: CloseReason) => void;
  /** Removes events that are too old to be asked for; for a timer. */
  readonly sweepEvents: () => Promise<void>;
  readonly forgetEnded: () => Promise<void>;
  /** Ends what goes on by itself, as a log that is followed does. */
  readonly cutOff: () => void;
  /** Tells the other processes of requests, and writes the uses that are due; for a timer. */
  readonly writeDue: () => Promise<void>;
  /** Encrypts with the present key what an earlier one encrypted; how many no key opens. */
  readonly reseal: () => Promise<number>;
  /** Seals what was recorded since; for a timer. */
  readonly sealAudit: () => Promise<void>;
  /** Writes what is still only in memory. */
  readonly flush: () => Promise<void>;
};

/** Wires the use cases to the ports and puts HTTP in front of them. */
export async function compose(given: Ports, options: ComposeOptions): Promise<Service> {
  const ports = measured(given);
  const { bus, clock, metrics, terminalBackend: backend, runtime } = ports;
  const storage = announced(ports.storage, bus);
  const log = options.logger;
  const publicUrl = (): string => options.publicUrl ?? addressBound(http);
  const { repositories } = storage;
  const monotonicMs = ports.monotonicMs ?? (() => performance.now());
  const auth = authenticator({ storage, bus, monotonicMs });
  const counts = repositories.requestCounts;
  const acts = actRecords({ audit: repositories.audit, monotonicMs });
  const limits = requestLimits({ counts, monotonicMs, startMs: clock.now().getTime() });
  const people = identity({ ...ports, storage, limits }, options, publicUrl);
  const tokens = apiTokens({ storage, pendingUse: auth.pendingUse });
  const me = { replica: options.replica, run: randomUUID() };
  const tapes = recording(ports, { storage, acts, monotonicMs }, options);
  const screens = xtermScreens;
  const shells = terminals({
    ...{ storage, backend, runtime, bus, me, clock, log, monotonicMs, screens },
    observer: tapes.forTerminals,
    opening: options.terminalOpening,
  });
  const { leases } = shells;
  let draining = false;
  const isDraining = (): boolean => draining;
  const reapTerminals = terminalReaper({
    ...{ repositories, runtime: ports.runtime, backend, leases, log, monotonicMs },
    isStopping: isDraining,
  });
  const { guard } = people;
  const sharing = collaborations({ storage, backend, guard, bus, clock, log, publicUrl });
  const { liveEveryMs: everyMs } = options;
  const live = authorizedConnections({ bus, current: auth.current, log, monotonicMs, everyMs });
  const taped = tapes.over(shells, live);
  const keys = idempotency(repositories);
  const outputs = outputSlots();
  const boxes = workspaces({ ...ports, storage }, options, { terminals: shells, live, keys, acts, outputs });
  const feed = eventFeed({
    events: repositories.events,
    bus,
    log,
    encode: eventFrame,
    sent: ({ time }) => metrics.eventSent((clock.now().getTime() - time.getTime()) / 1000),
  });
  const audit = auditing({ repositories, clock, live });
  const sockets: Routes = (http) => {
    terminalSocket(http, { terminals: shells, log, live, outputs });
    eventSocket(http, { feed, live, log });
  };
  metrics.watch('terminals_open', shells.count);
  const lasting = lastingUses();
  const addresses = addressSockets();
  metrics.watch('address_sockets_most', addresses.most);
  const settings = () => repositories.settings.read();
  const access = {
    isDraining,
    authenticator: auth,
    metrics,
    limits,
    lasting,
    addressSockets: addresses,
    requestsPerMinute: async () => (await settings()).requestsPerMinute,
    socketsPerAddress: async () => (await settings()).socketsPerAddress,
  };

  const http = await httpServer({ ...options, ...access, signingKeys: options.keys.live }, [
    systemRoutes(options),
    metricsRoutes(metrics),
    ...people.routes,
    settingsRoutes(settingsService(storage, bus)),
    tokenRoutes(tokens, keys),
    sessionRoutes(sessions({ storage, pendingSeen: auth.pendingSeen })),
    audit.routes,
    userRoutes(users(storage, clock)),
    adminTerminalRoutes(adminTerminals({ storage, terminals: shells, bus, clock })),
    collaborationRoutes(sharing),
    sshKeyRoutes(sshKeys(storage)),
    catalogueRoutes(repositories.catalogue),
    adminCatalogueRoutes(repositories.catalogue, catalogueAdmin(storage)),
    ...boxes.routes,
    taped.routes,
    sockets,
  ]);
  if (options.webRoot !== null) await staticFiles(http, options.webRoot);
  return {
    http,
    accounts: people.accounts,
    reseal: people.reseal,
    sealAudit: audit.seal,
    terminals: shells,
    recordings: taped.work,
    drain: () => {
      draining = true;
      shells.refuseNew();
    },
    collaborations: sharing,
    closeEvents: feed.close,
    sweepEvents: repositories.events.sweep,
    forgetEnded: forgetEnded(storage, log),
    cutOff: live.closeAll,
    reapTerminals,
    ...boxes.work,
    writeDue: async () =>
      void (await Promise.all([
        limits.flush(),
        auth.flush(),
        acts.flush(),
        shells.writeDue(),
        taped.work.tick(),
      ])),
    flush: async () => void (await Promise.all([limits.flush(), auth.flushAll(), acts.flushAll()])),
  };
}

/** The address of a server that listens; nothing that can be opened before that. */
function addressBound(http: Http): string {
  const [bound] = http.addresses();
  return bound === undefined || typeof bound === 'string' ? '' : addressOf(bound.address, bound.port);
}
