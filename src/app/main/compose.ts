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
import { catalogueAdmin } from '../containers/catalogue.ts';
import { EventFeed } from '../events/event-feed.ts';
import { forgetEnded } from '../history-cleanup.ts';
import { sessions } from '../identity/account/sessions.ts';
import { sshKeys } from '../identity/account/ssh-keys.ts';
import { apiTokens } from '../identity/account/tokens.ts';
import { concurrentUse } from '../identity/limits/concurrent-use.ts';
import { addressSockets } from '../identity/limits/sockets-by-address.ts';
import { endAccounts } from '../identity/people/end-accounts.ts';
import { announcements } from '../service/announcements.ts';
import { healthHistory } from '../service/health.ts';
import { recordHealth } from '../service/record-health.ts';
import { settingsService } from '../settings.ts';
import type { AllPorts, ComposeOptions, Ports, WebOptions } from './compose-options.ts';
import { withMetrics } from './engine/engine-metrics.ts';
import { withAgents } from './engine/route-by-node.ts';
import { addressOf } from './process/listen-address.ts';
import type { Service } from './service.ts';
import { type SharedServices, sharedServices } from './wiring/shared-services.ts';
import { wireAgents } from './wiring/wire-agents.ts';
import { wireAudit } from './wiring/wire-audit.ts';
import { wireContainers } from './wiring/wire-containers.ts';
import { wireIdentity } from './wiring/wire-identity.ts';
import { mcpRoutes } from './wiring/wire-mcp.ts';
import { wireSsh } from './wiring/wire-ssh.ts';
import { wireTerminals } from './wiring/wire-terminals.ts';

type Draining = { isDraining: boolean };

/** Wires the use cases to the ports, with HTTP in front. Tests replace `serverOf`. */
export async function compose(
  given: Ports,
  options: ComposeOptions,
  serverOf: typeof httpServer = httpServer,
): Promise<Service> {
  const { web } = options;
  const hub = new AgentHub(options.logger);
  const ports: AllPorts = {
    monotonicMs: () => performance.now(),
    ...withAgents(withMetrics(given), agentPorts(hub, given.clock.now())),
  };
  const shared = sharedServices(ports, options);
  const draining: Draining = { isDraining: false };
  // Read later: the address is known once the server listens.
  const publicUrl = (): string => web.publicUrl ?? addressBound(http);
  const wings = wingsOf(ports, options, { ...shared, hub }, draining, publicUrl);
  const http = await serverOf(
    {
      logger: options.logger,
      version: options.version,
      signingKeys: options.keys.live,
      trustProxy: web.trustProxy,
      openFiles: web.openFiles,
      overHttps: web.secureCookie,
      ...accessOf(ports, web, shared, draining),
    },
    routesOf(ports, options, shared, wings),
  );
  if (web.webRoot !== null) await staticFiles(http, web.webRoot, web.secureCookie);
  const {
    replica,
    health: { readiness },
  } = options;
  const { metrics, monotonicMs } = ports;
  const { storage } = shared;
  const health = recordHealth({ storage, replica, readiness, monotonicMs, metrics });
  return {
    ...serviceOf(http, options, shared, wings, draining),
    recordHealth: health.pass,
    noteStop: health.stopped,
  };
}

type Wings = ReturnType<typeof wingsOf>;

function wingsOf(
  ports: AllPorts,
  options: ComposeOptions,
  shared: SharedServices & { readonly hub: AgentHub },
  draining: Draining,
  publicUrl: () => string,
) {
  const { storage, requestLimits: limits, authorizedConnections: live } = shared;
  const { repositories } = storage;
  const { bus, clock, monotonicMs, metrics } = ports;
  const { keys, web } = options;
  const keyOptions = { keys, secureCookie: web.secureCookie, log: options.logger };
  const identityWing = wireIdentity({ ...ports, storage, limits }, keyOptions, publicUrl);
  const { throttle, confirmed } = identityWing;
  const isDraining = (): boolean => draining.isDraining;
  const terminalWing = wireTerminals(ports, options, shared, { throttle, publicUrl, isDraining });
  const { terminals } = terminalWing.work;
  const agentWing = wireAgents({ ...ports, storage }, options, { ...shared, terminals });
  const sshWing = wireSsh(ports, options, shared, { throttle, terminals, publicUrl });
  const { agents } = agentWing;
  const containerWing = wireContainers({ ...ports, storage }, options, shared, {
    terminals,
    agents,
    confirmed,
  });
  const feed = new EventFeed({
    events: repositories.events,
    bus,
    log: options.logger,
    encode: eventFrame,
    sent: ({ time }) => metrics.eventSent((clock.now().getTime() - time.getTime()) / 1000),
  });
  return {
    identityWing,
    terminalWing,
    sshWing,
    agentWing,
    containerWing,
    feed,
    audit: wireAudit({ repositories, monotonicMs, live }),
  };
}

function accessOf(
  { metrics }: Ports,
  { localMetrics, allowedOrigins }: WebOptions,
  { authenticator, requestLimits, storage }: SharedServices,
  draining: Draining,
) {
  const addresses = addressSockets();
  metrics.watch('address_sockets_most', addresses.most);
  const readSettings = () => storage.repositories.settings.read();
  return {
    auth: {
      isDraining: () => draining.isDraining,
      authenticator,
      metrics,
      accessLimits: {
        requests: requestLimits,
        concurrentUse: concurrentUse(),
        perAddress: async () => (await readSettings()).requestsPerMinute,
      },
      localMetrics,
      allowedOrigins,
    },
    sockets: {
      addressSockets: addresses,
      socketsPerAddress: async () => (await readSettings()).socketsPerAddress,
    },
  };
}

function routesOf(
  { bus, clock, metrics, runtime }: Ports,
  options: ComposeOptions,
  { storage, authenticator, authorizedConnections, idempotency }: SharedServices,
  { identityWing, terminalWing, sshWing, agentWing, containerWing, feed, audit }: Wings,
): readonly Routes[] {
  const { catalogue } = storage.repositories;
  return [
    systemRoutes({ ...options.health, version: options.version }),
    metricsRoutes(metrics),
    ...identityWing.routes,
    settingsRoutes(settingsService(storage, bus)),
    healthHistoryRoutes(healthHistory(storage)),
    announcementRoutes({ announcements: announcements(storage, clock), clock }),
    tokenRoutes(apiTokens({ storage, pendingUse: authenticator.pendingUse }), idempotency),
    sessionRoutes(sessions({ storage, pendingSeen: authenticator.pendingSeen })),
    audit.routes,
    sshKeyRoutes(sshKeys(storage, authenticator.pendingKeyUse)),
    catalogueRoutes(catalogue),
    engineRoutes(runtime),
    adminCatalogueRoutes(catalogue, catalogueAdmin(storage)),
    ...containerWing.routes,
    ...terminalWing.routes,
    ...agentWing.routes,
    ...sshWing.routes,
    ({ sockets }) => eventSocket(sockets, { feed, live: authorizedConnections, log: options.logger }),
    mcpRoutes(authorizedConnections, options.version),
  ];
}

const serviceOf = (
  http: Http,
  options: ComposeOptions,
  { storage, authenticator, requestLimits, activityRecords, authorizedConnections }: SharedServices,
  { identityWing, terminalWing, sshWing, agentWing, containerWing, feed, audit }: Wings,
  draining: Draining,
): Omit<Service, 'recordHealth' | 'noteStop'> => ({
  http,
  registration: identityWing.registration,
  reseal: async () => {
    await sshWing.reseal();
    return await identityWing.reseal();
  },
  sealAudit: audit.seal,
  ...terminalWing.work,
  ...sshWing.work,
  ...containerWing.work,
  agents: agentWing.work,
  drain: () => {
    draining.isDraining = true;
    terminalWing.work.terminals.refuseNew();
    agentWing.work.leaveShells();
  },
  closeEvents: (reason) => feed.close(reason),
  sweepEvents: storage.repositories.events.sweep,
  sweepCommandRuns: storage.repositories.commandRuns.sweep,
  forgetEnded: forgetEnded(storage, options.logger),
  endAccounts: endAccounts(storage, options.logger),
  cutOff: authorizedConnections.closeAll,
  writeDue: async () =>
    void (await Promise.all([
      requestLimits.flush(),
      authenticator.flush(),
      activityRecords.flush(),
      terminalWing.writeDue(),
      agentWing.work.checkConnections(),
    ])),
  flush: async () =>
    void (await Promise.all([requestLimits.flush(), authenticator.flushAll(), activityRecords.flushAll()])),
});

/** The server's address. Empty before it listens. */
function addressBound(http: Http): string {
  const [bound] = http.addresses();
  return bound === undefined || typeof bound === 'string' ? '' : addressOf(bound.address, bound.port);
}
