import { ANSWERS } from '../../../adapters/http/error-table.ts';
import { adminContainerRoutes } from '../../../adapters/http/routes/containers/administration/admin-containers.ts';
import { containerRoutes } from '../../../adapters/http/routes/containers/containers.ts';
import { figureRoutes } from '../../../adapters/http/routes/containers/figures.ts';
import { execRoutes } from '../../../adapters/http/routes/containers/inside/exec.ts';
import { fileSearchRoutes } from '../../../adapters/http/routes/containers/inside/file-search.ts';
import { fileRoutes } from '../../../adapters/http/routes/containers/inside/files.ts';
import { insightRoutes } from '../../../adapters/http/routes/containers/inside/insight.ts';
import { processStreamRoutes } from '../../../adapters/http/routes/containers/processes/process-streams.ts';
import { processRoutes } from '../../../adapters/http/routes/containers/processes/processes.ts';
import { roleSetupRoutes } from '../../../adapters/http/routes/containers/role-setup.ts';
import { snapshotRoutes } from '../../../adapters/http/routes/containers/snapshots.ts';
import { userRemovalRoutes } from '../../../adapters/http/routes/identity/people/user-removal.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import { abortWhenUnauthorized } from '../../../adapters/http/streamed-replies.ts';
import { execSocket } from '../../../adapters/websocket/exec/exec-socket.ts';
import { watchSocket } from '../../../adapters/websocket/files/watch-socket.ts';
import { attachSocket } from '../../../adapters/websocket/processes/attach-socket.ts';
import { endSharesOf } from '../../collaboration/collaboration-effects.ts';
import { adminContainers } from '../../containers/administration/admin-containers.ts';
import { transferContainer } from '../../containers/administration/transfer-container.ts';
import type { OfAgents } from '../../containers/agents/agents.ts';
import { containers } from '../../containers/containers.ts';
import { figureSampler } from '../../containers/figures/figure-sampler.ts';
import { presentLoads } from '../../containers/figures/present-loads.ts';
import { readFigures } from '../../containers/figures/read-figures.ts';
import { commandRuns } from '../../containers/inside/command-runs.ts';
import { containerAccess } from '../../containers/inside/container-access.ts';
import { endContainers } from '../../containers/lifetime/end-containers.ts';
import { collectSnapshots } from '../../containers/maintenance/collect-snapshots.ts';
import { reconcile } from '../../containers/maintenance/reconcile.ts';
import { warmPool } from '../../containers/maintenance/warm-pool.ts';
import { watchDiskUsage } from '../../containers/maintenance/watch-disk-usage.ts';
import { watchKernelShares } from '../../containers/maintenance/watch-kernel-shares.ts';
import { watchSpace } from '../../containers/maintenance/watch-space.ts';
import { operations } from '../../containers/operations/operations.ts';
import { processes } from '../../containers/processes/processes.ts';
import { storeBeforeStop } from '../../containers/processes/store-outputs.ts';
import { continueRemovals } from '../../containers/removal/continue-removal.ts';
import { removeUser } from '../../containers/removal/remove-user.ts';
import { collectVolumes } from '../../containers/retention/volume-retention.ts';
import { roleSetups } from '../../containers/role-setup/role-setups.ts';
import { snapshots } from '../../containers/snapshots/snapshots.ts';
import type { RequireRecentSignIn } from '../../identity/sign-in/reauthentication.ts';
import type { Terminals } from '../../terminals/terminals.ts';
import type { AllPorts, ComposeOptions, Ports } from '../compose-options.ts';
import type { SharedServices } from './shared-services.ts';
import { wireCapacity } from './wire-capacity.ts';

type OfOthers = {
  readonly terminals: Terminals;
  readonly agents: OfAgents;
  readonly confirmed: RequireRecentSignIn;
};

/** Containers: operations, the pool, role setups, and the use cases inside. */
export function wireContainers(
  ports: AllPorts,
  options: ComposeOptions,
  shared: SharedServices,
  { terminals, agents, confirmed }: OfOthers,
) {
  const { idempotency: keys, containerUses: uses } = shared;
  const { pool, work, tools } = operationsAndTools(ports, options, terminals);
  const deps = {
    storage: ports.storage,
    runtime: ports.runtime,
    clock: ports.clock,
    operations: work,
    terminals,
    warmPool: pool,
    log: options.logger,
    settings: { ...options.containers, node: ports.runtimeNode },
  };
  const boxes = containers(deps, agents);
  const ofAdmins = { ...deps, confirmed, monotonicMs: ports.monotonicMs };
  const ofRemovals = { ...deps, agents, confirmed, terminals: { ...terminals, endShares: endSharesOf } };
  uses.watch(terminals.usesNow);
  const inside = wireInside(ports, options, shared);
  const sampler = figureSampler({
    insight: ports.insight,
    monotonicMs: ports.monotonicMs,
    log: options.logger,
  });
  const capacity = wireCapacity(ports, options);
  return {
    routes: [
      containerRoutes(boxes, keys, presentLoads(ports.host, ports.monotonicMs)),
      adminContainerRoutes(adminContainers(ofAdmins), transferContainer(ofAdmins)),
      snapshotRoutes(snapshots(deps), keys),
      roleSetupRoutes(tools),
      ...inside.routes,
      userRemovalRoutes(removeUser(ofRemovals)),
      figureRoutes(readFigures(ports.storage, sampler), ports.clock),
      capacity.routes,
    ],
    work: {
      warmPool: pool,
      operations: work,
      roleSetups: tools,
      reconcile: reconcile(deps),
      settleProcesses: inside.settleProcesses,
      sampleFigures: sampler.sample,
      ...capacity.work,
      measureDisks: watchDiskUsage(deps),
      watchKernelShares: watchKernelShares(deps, ports.kernelShares),
      watchSpace: watchSpace(deps),
      collectVolumes: inTurn(
        collectVolumes(deps, checkpointOf(options)),
        collectSnapshots(deps, checkpointOf(options)),
      ),
      keepUses: uses.keep,
      removeUsers: continueRemovals(ofRemovals),
      endContainers: endContainers({ ...deps, insight: ports.insight, noticeAll: terminals.noticeAll }),
    },
  };
}

/** Commands, processes, files and logs of running containers. */
function wireInside(ports: AllPorts, { logger: log, replica }: ComposeOptions, shared: SharedServices) {
  const { authorizedConnections: live, idempotency: keys, outputSlots: outputs } = shared;
  const { activityRecords: acts, containerUses: uses } = shared;
  const access = containerAccess({ ...ports, acts, uses });
  const programs = processes({ ...ports, acts, log });
  uses.watch(programs.usesNow);
  const records = commandRuns({ ...ports, replica, log });
  const cutOffReading = abortWhenUnauthorized(live, access.mayGoOnReading);
  const cutOffWriting = abortWhenUnauthorized(live, access.mayGoOnChanging);
  const routes: readonly Routes[] = [
    execRoutes(access, outputs, cutOffWriting),
    processRoutes(programs, keys),
    processStreamRoutes(programs, cutOffReading),
    ({ sockets }) =>
      attachSocket(sockets, { processes: programs, mayGoOn: access.mayGoOnChanging, live, log }),
    ({ sockets }) => execSocket(sockets, { access, records, live, log, wordsOf }),
    ({ sockets }) => watchSocket(sockets, { access, live, log }),
    fileRoutes({ access, outputs, cutOffReading, cutOffWriting }),
    fileSearchRoutes(access),
    insightRoutes(access, outputs, cutOffReading),
  ];
  return { routes, settleProcesses: programs.settleAll };
}

const wordsOf = (code: keyof typeof ANSWERS): string => ANSWERS[code][1];
const inTurn =
  (...work: readonly (() => Promise<void>)[]) =>
  async (): Promise<void> => {
    for (const one of work) await one();
  };

const checkpointOf = ({ containers: { checkpoint } }: ComposeOptions) => checkpoint ?? (async () => {});

function operationsAndTools(ports: Ports, options: ComposeOptions, terminals: Terminals) {
  const { storage, runtime, installer, insight, clock, metrics } = ports;
  const { logger: log, replica: owner } = options;
  const { diskFloorMb, verifyMs, warmPoolSize: size } = options.containers;
  const checkpoint = checkpointOf(options);
  const pool = warmPool({
    storage,
    runtime,
    owner,
    log,
    checkpoint,
    engine: ports.warmPool,
    settings: { node: ports.runtimeNode, diskFloorMb, size },
  });
  const tools = roleSetups({ storage, runtime, installer, clock, log, owner });
  const work = operations({
    storage,
    runtime,
    insight,
    log,
    owner,
    verifyMs,
    steps: {
      checkpoint,
      done: metrics.stepDone,
      submitted: () => void tools.takeUp(),
      beforeStop: storeBeforeStop({ storage, processes: ports.processes, log }),
    },
    terminals: { closeAll: terminals.closeAll, endShares: endSharesOf },
  });
  return { pool, work, tools };
}
