import { randomUUID } from 'node:crypto';
import { adminCatalogueRoutes } from '../../adapters/http/routes/admin-catalogue.ts';
import { adminTerminalRoutes } from '../../adapters/http/routes/admin-terminals.ts';
import { catalogueRoutes } from '../../adapters/http/routes/catalogue.ts';
import { collaborationRoutes } from '../../adapters/http/routes/collaborations.ts';
import { metricsRoutes } from '../../adapters/http/routes/metrics.ts';
import { sessionRoutes } from '../../adapters/http/routes/sessions.ts';
import { settingsRoutes } from '../../adapters/http/routes/settings.ts';
import { sshKeyRoutes } from '../../adapters/http/routes/ssh-keys.ts';
import { systemRoutes } from '../../adapters/http/routes/system.ts';
import { tokenRoutes } from '../../adapters/http/routes/tokens.ts';
import { userRoutes } from '../../adapters/http/routes/users.ts';
import { httpServer, type Routes } from '../../adapters/http/server.ts';
import { staticFiles } from '../../adapters/http/static.ts';
import type { Http } from '../../adapters/http/types.ts';
import { xtermScreens } from '../../adapters/screen/screens.ts';
import { eventFrame } from '../../adapters/websocket/event-frames.ts';
import { eventSocket } from '../../adapters/websocket/event-socket.ts';
import { terminalSocket } from '../../adapters/websocket/terminal-socket.ts';
import type { CloseReason } from '../../domain/terminal.ts';
import type { Accounts } from '../accounts.ts';
import { actRecords } from '../act-records.ts';
import { addressSockets } from '../address-sockets.ts';
import { adminTerminals } from '../admin-terminals.ts';
import { announced } from '../announced.ts';
import { authenticator } from '../authenticate.ts';
import { catalogueAdmin } from '../catalogue.ts';
import { type Collaborations, collaborations } from '../collaborations.ts';
import { eventFeed } from '../event-feed.ts';
import { forgetEnded } from '../forget-ended.ts';
import { idempotency } from '../idempotency.ts';
import { lastingUses } from '../lasting-use.ts';
import { liveSockets } from '../live-sockets.ts';
import { outputSlots } from '../output-slots.ts';
import type { Recordings } from '../recordings.ts';
import { requestLimits } from '../request-limits.ts';
import { sessions } from '../sessions.ts';
import { settingsService } from '../settings.ts';
import { sshKeys } from '../ssh-keys.ts';
import { terminalReaper } from '../terminal-reaper.ts';
import { terminals } from '../terminals.ts';
import { apiTokens } from '../tokens.ts';
import { users } from '../users.ts';
import { auditing } from './auditing.ts';
import { identity } from './identity.ts';
import { addressOf } from './listening.ts';
import { measured } from './measured.ts';
import type { ComposeOptions, Ports } from './ports.ts';
import { recording } from './recording.ts';
import { type WorkspaceWork, workspaces } from './workspaces.ts';

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
    ...tapes.forTerminals,
    opening: options.terminalOpening,
  });
  const { holding } = shells;
  let draining = false;
  const isDraining = (): boolean => draining;
  const reapTerminals = terminalReaper({
    ...{ repositories, runtime: ports.runtime, backend, holding, log, monotonicMs },
    isStopping: isDraining,
  });
  const { guard } = people;
  const sharing = collaborations({ storage, backend, guard, bus, clock, log, publicUrl });
  const { liveEveryMs: everyMs } = options;
  const live = liveSockets({ bus, current: auth.current, log, monotonicMs, everyMs });
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
