import { AgentHub, agentPorts } from '../../adapters/agents/index.ts';
import type { Http } from '../../adapters/http/fastify-types.ts';
import { adminCatalogueRoutes } from '../../adapters/http/routes/containers/catalogue/admin-catalogue.ts';
import { catalogueRoutes } from '../../adapters/http/routes/containers/catalogue/catalogue.ts';
import { engineRoutes } from '../../adapters/http/routes/containers/engine.ts';
import { sessionRoutes } from '../../adapters/http/routes/identity/sessions.ts';
import { sshKeyRoutes } from '../../adapters/http/routes/identity/ssh-keys.ts';
import { tokenRoutes } from '../../adapters/http/routes/identity/tokens.ts';
import { announcementRoutes } from '../../adapters/http/routes/service/announcements.ts';
import { systemRoutes } from '../../adapters/http/routes/service/health.ts';
import { healthHistoryRoutes } from '../../adapters/http/routes/service/health-history.ts';
import { metricsRoutes } from '../../adapters/http/routes/service/metrics.ts';
import { settingsRoutes } from '../../adapters/http/routes/service/settings.ts';
import { httpServer, type Routes } from '../../adapters/http/server.ts';
import { staticFiles } from '../../adapters/http/web-app.ts';
import { eventFrame } from '../../adapters/websocket/events/event-frames.ts';
import { eventSocket } from '../../adapters/websocket/events/event-socket.ts';
import type { CloseReason } from '../../domain/terminals/terminal.ts';
import { catalogueAdmin } from '../containers/catalogue.ts';
import { EventFeed } from '../events/event-feed.ts';
import { forgetEnded } from '../history-cleanup.ts';
import { sessions } from '../identity/account/sessions.ts';
import { sshKeys } from '../identity/account/ssh-keys.ts';
import { apiTokens } from '../identity/account/tokens.ts';
import { concurrentUse } from '../identity/limits/concurrent-use.ts';
import { addressSockets } from '../identity/limits/sockets-by-address.ts';
import type { Registration } from '../identity/sign-in/registration.ts';
import { announcements } from '../service/announcements.ts';
import { healthHistory } from '../service/health.ts';
import { recordHealth } from '../service/record-health.ts';
import { settingsService } from '../settings.ts';
import type { ComposeOptions, Ports, WebOptions } from './compose-options.ts';
import { measured } from './engine/engine-ports.ts';
import { withAgents } from './engine/route-by-node.ts';
import { addressOf } from './process/listen-address.ts';
import { type SharedParts, sharedParts } from './wiring/shared-parts.ts';
import { type AgentWork, agentWing } from './wiring/wire-agents.ts';
import { auditing } from './wiring/wire-audit.ts';
import { type WorkspaceWork, workspaces } from './wiring/wire-containers.ts';
import { identity } from './wiring/wire-identity.ts';
import { mcpRoutes } from './wiring/wire-mcp.ts';
import { type SshWork, sshWing } from './wiring/wire-ssh.ts';
import { type TerminalWork, terminalWing } from './wiring/wire-terminals.ts';

export type Service = WorkspaceWork &
  TerminalWork &
  SshWork & {
    readonly agents: AgentWork;
    readonly http: Http;
    readonly accounts: Registration;
    /** Refuses every new request with a retry time. */
    readonly drain: () => void;
    readonly closeEvents: (reason: CloseReason) => void;
    /** Removes events too old to be requested; for a timer. */
    readonly sweepEvents: () => Promise<void>;
    readonly forgetEnded: () => Promise<void>;
    /** Records what this process finds of the service; for a timer. */
    readonly recordHealth: () => Promise<void>;
    /** Notes that this process ends on purpose. */
    readonly noteStop: () => Promise<void>;
    /** Aborts long-running answers, such as followed logs. */
    readonly cutOff: () => void;
    /** Sends request counts and writes due uses; for a timer. */
    readonly writeDue: () => Promise<void>;
    /** Re-encrypts with the present key; returns how many no key opens. */
    readonly reseal: () => Promise<number>;
    /** Seals new audit records; for a timer. */
    readonly sealAudit: () => Promise<void>;
    /** Writes what is only in memory. */
    readonly flush: () => Promise<void>;
  };

type Draining = { isDraining: boolean };

/** Wires the use cases to the ports, with HTTP in front. Tests replace `serverOf`. */
export async function compose(
  given: Ports,
  options: ComposeOptions,
  serverOf: typeof httpServer = httpServer,
): Promise<Service> {
  const { web } = options;
  const hub = new AgentHub(options.logger);
  const ports = withAgents(measured(given), agentPorts(hub, given.clock.now()));
  const shared = sharedParts(ports, options);
  const draining: Draining = { isDraining: false };
  const wings = wingsOf(
    ports,
    options,
    { ...shared, hub },
    draining,
    () => web.publicUrl ?? addressBound(http),
  );
  const http = await serverOf(
    {
      ...{ logger: options.logger, version: options.version, signingKeys: options.keys.live },
      ...{ trustProxy: web.trustProxy, openFiles: web.openFiles, overHttps: web.secureCookie },
      ...accessOf(ports, web, shared, draining),
    },
    routesOf(ports, options, shared, wings),
  );
  if (web.webRoot !== null) await staticFiles(http, web.webRoot, web.secureCookie);
  const { storage, monotonicMs } = shared;
  const { readiness } = options.health;
  const { replica } = options;
  const { metrics } = ports;
  const health = recordHealth({ storage, replica, readiness, monotonicMs, metrics });
  return {
    ...serviceOf(http, options, shared, wings, draining),
    recordHealth: health.pass,
    noteStop: health.stopped,
  };
}

type Wings = ReturnType<typeof wingsOf>;

function wingsOf(
  ports: Ports,
  options: ComposeOptions,
  shared: SharedParts & { readonly hub: AgentHub },
  draining: Draining,
  publicUrl: () => string,
) {
  const { storage, limits, live } = shared;
  const { repositories } = storage;
  const { bus, clock, metrics } = ports;
  const { keys, web } = options;
  const ofKeys = { keys, secureCookie: web.secureCookie, log: options.logger };
  const people = identity({ ...ports, storage, limits }, ofKeys, publicUrl);
  const { throttle } = people;
  const isDraining = (): boolean => draining.isDraining;
  const shells = terminalWing(ports, options, shared, { throttle, publicUrl, isDraining });
  const { terminals } = shells.work;
  const machines = agentWing({ ...ports, storage }, options, { ...shared, terminals });
  const secureShell = sshWing(ports, options, shared, { throttle, terminals, publicUrl });
  const ofBoxes = { ...shared, terminals, agents: machines.agents, confirmed: people.confirmed };
  const boxes = workspaces({ ...ports, storage }, options, ofBoxes);
  const feed = new EventFeed({
    events: repositories.events,
    bus,
    log: options.logger,
    encode: eventFrame,
    sent: ({ time }) => metrics.eventSent((clock.now().getTime() - time.getTime()) / 1000),
  });
  return {
    people,
    shells,
    secureShell,
    machines,
    boxes,
    feed,
    audit: auditing({ repositories, clock, live }),
  };
}

function accessOf(
  { metrics }: Ports,
  { localMetrics, allowedOrigins }: WebOptions,
  { auth, limits, storage }: SharedParts,
  draining: Draining,
) {
  const addresses = addressSockets();
  metrics.watch('address_sockets_most', addresses.most);
  const settings = () => storage.repositories.settings.read();
  return {
    auth: {
      isDraining: () => draining.isDraining,
      authenticator: auth,
      metrics,
      limits: {
        requests: limits,
        uses: concurrentUse(),
        perAddress: async () => (await settings()).requestsPerMinute,
      },
      ...{ localMetrics, allowedOrigins },
    },
    sockets: {
      addressSockets: addresses,
      socketsPerAddress: async () => (await settings()).socketsPerAddress,
    },
  };
}

function routesOf(
  { bus, clock, metrics, runtime }: Ports,
  options: ComposeOptions,
  { storage, auth, live, keys }: SharedParts,
  { people, shells, secureShell, machines, boxes, feed, audit }: Wings,
): readonly Routes[] {
  const { catalogue } = storage.repositories;
  return [
    systemRoutes({ ...options.health, version: options.version }),
    metricsRoutes(metrics),
    ...people.routes,
    settingsRoutes(settingsService(storage, bus)),
    healthHistoryRoutes(healthHistory(storage)),
    announcementRoutes({ announcements: announcements(storage, clock), clock }),
    tokenRoutes(apiTokens({ storage, pendingUse: auth.pendingUse }), keys),
    sessionRoutes(sessions({ storage, pendingSeen: auth.pendingSeen })),
    audit.routes,
    sshKeyRoutes(sshKeys(storage, auth.pendingKeyUse)),
    catalogueRoutes(catalogue),
    engineRoutes(runtime),
    adminCatalogueRoutes(catalogue, catalogueAdmin(storage)),
    ...boxes.routes,
    ...shells.routes,
    ...machines.routes,
    ...secureShell.routes,
    (http) => eventSocket(http, { feed, live, log: options.logger }),
    mcpRoutes(live, options.version),
  ];
}

function serviceOf(
  http: Http,
  options: ComposeOptions,
  { storage, auth, limits, acts, live }: SharedParts,
  { people, shells, secureShell, machines, boxes, feed, audit }: Wings,
  draining: Draining,
): Omit<Service, 'recordHealth' | 'noteStop'> {
  return {
    http,
    accounts: people.accounts,
    reseal: async () => {
      await secureShell.reseal();
      return await people.reseal();
    },
    sealAudit: audit.seal,
    ...shells.work,
    ...secureShell.work,
    ...boxes.work,
    agents: machines.work,
    drain: () => {
      draining.isDraining = true;
      shells.work.terminals.refuseNew();
      machines.work.keepShells();
    },
    closeEvents: (reason) => feed.close(reason),
    sweepEvents: storage.repositories.events.sweep,
    forgetEnded: forgetEnded(storage, options.logger),
    cutOff: live.closeAll,
    writeDue: async () =>
      void (await Promise.all([
        limits.flush(),
        auth.flush(),
        acts.flush(),
        shells.writeDue(),
        machines.work.keep(),
      ])),
    flush: async () => void (await Promise.all([limits.flush(), auth.flushAll(), acts.flushAll()])),
  };
}

/** The address of a listening server; before that, one that cannot be opened. */
function addressBound(http: Http): string {
  const [bound] = http.addresses();
  return bound === undefined || typeof bound === 'string' ? '' : addressOf(bound.address, bound.port);
}
