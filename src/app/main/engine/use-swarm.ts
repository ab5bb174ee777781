import { processLimits } from '../../../adapters/docker/host/process-limits.ts';
import { COUNTED } from '../../../adapters/docker/volumes/container-volumes.ts';
import { recordUse } from '../../../adapters/engine-record.ts';
import { SWARM_CAPABILITIES, swarmRuntime } from '../../../adapters/swarm/containers/container-runtime.ts';
import type { StaleNodes } from '../../../adapters/swarm/containers/stale-networks.ts';
import { swarmWarmPool } from '../../../adapters/swarm/images/warm-pool.ts';
import { swarmHost } from '../../../adapters/swarm/insight/swarm-host.ts';
import { swarmCanary } from '../../../adapters/swarm/network/isolation-probe.ts';
import { openSwarm, type Swarm } from '../../../adapters/swarm/swarm.ts';
import { swarmInside } from '../../../adapters/swarm/swarm-inside.ts';
import { repeat } from '../../../concurrency/repeat.ts';
import { NO_DEFAULT_IMAGE, type Parts, PREPARING, SEEN_BY_NODE } from '../health/readiness.ts';
import { sparingLog } from '../process/sparing-log.ts';
import { NODE } from './attach-engine.ts';
import { prepareBaseImage } from './base-image.ts';
import type { EngineInUse, EngineSetUp } from './container-engine.ts';
import { type EngineSlot, engineSlot } from './engine-ports.ts';
import { findManager, type LastSwarm } from './find-manager.ts';
import { BY_PACKET_FILTER, type Closing, NOT_TESTED } from './isolation-check.ts';
import { startIsolationUpkeep } from './isolation-upkeep.ts';
import { reconnecting } from './reconnect.ts';
import { engineState, faultState, mustSwitchManager, NOT_USABLE, nextAddress } from './swarm-managers.ts';
import { EngineNotChosen, isOtherSwarmRecorded } from './swarm-record.ts';

/** Each time a container on each node looks at its packet filter. */
const RULES_EVERY_MS = 60_000;
const HEALTH_EVERY_MS = 30_000;
/** Detects a lost quorum or another Swarm, and bounds the time of a switch. */
const MANAGER_EVERY_MS = 5_000;

/**
 * Connects the ports to a Docker swarm. Until its manager answers they refuse, and the connection is tried again every
 * few seconds. Throws when the signal comes first. `stopWith` receives the function that ends the work; containers run on.
 */
export async function useSwarm(
  stopWith: (stop: () => Promise<void>) => void,
  setUp: EngineSetUp & { readonly againMs?: number },
): Promise<EngineInUse & Pick<EngineSlot, 'describe'>> {
  const { log, signal, againMs } = setUp;
  const slot = engineSlot(SWARM_CAPABILITIES);
  const parts: Parts = {
    engine: PREPARING,
    image: PREPARING,
    disk: PREPARING,
    isolation: setUp.baseImage === null ? UNTESTED : NOT_TESTED,
    resources: SEEN_BY_NODE,
  };
  const isolation = startIsolationUpkeep({
    slot,
    parts,
    log,
    closing: ON_NODES,
    rulesEveryMs: RULES_EVERY_MS,
  });
  const stopDescribing = repeat(HEALTH_EVERY_MS, () => slot.describe(), log);
  const managers = swarmManagers(setUp, slot, parts, isolation);
  const onFault = (error: unknown): void => {
    parts.engine = faultState(error);
    parts.disk = NOT_USABLE;
    parts.image = NOT_USABLE;
  };
  const { connect } = managers;
  const connection = reconnecting({ name: 'the Swarm', log, signal, againMs, connect, onFault });
  const watchManager = async (): Promise<void> => {
    if (await managers.mustSwitch()) await connection.reconnect();
  };
  const stopWatching = repeat(againMs ?? MANAGER_EVERY_MS, watchManager, log);
  stopWith(async () => {
    await stopWatching();
    await connection.stop();
    await stopDescribing();
    await isolation.stop();
    await managers.prepared();
  });
  await connection.begin();
  return { ...slot, parts };
}

/**
 * Connects the slot to the first manager that answers. A later `connect` begins with the manager in use, and moves on to
 * the next one if that fails.
 */
function swarmManagers(
  setUp: EngineSetUp,
  slot: EngineSlot,
  parts: Parts,
  isolation: ReturnType<typeof startIsolationUpkeep>,
) {
  let preparing: Promise<unknown> = Promise.resolve();
  let leave = new AbortController();
  let inUse: InUse | null = null;
  let attachedId: string | null = null;
  let beginAt: string | null = null;
  const staleNodes: StaleNodes = new Map();
  /** Work for a manager that is not in use reports no health. */
  const disconnect = (): void => {
    leave.abort();
    slot.describeWith(async () => {});
  };
  /** Until an administrator returns to it. */
  const leaveSwarm = async (): Promise<void> => {
    slot.empty();
    await isolation.leave();
  };
  const connect = async (): Promise<() => void> => {
    disconnect();
    leave = new AbortController();
    const ofManager = { ...setUp, signal: AbortSignal.any([setUp.signal, leave.signal]) };
    const last = { beginAt, swarmId: attachedId, staleNodes };
    const attached = await attach(ofManager, slot, parts, last);
    attachedId = attached.swarmId;
    // If this manager cannot be prepared, the next attempt begins with another one.
    beginAt = nextAddress(attached.endpoint, setUp.config.swarm.managers);
    const { swarm } = attached;
    // Keep the nodes' firewall rules up while the new manager prepares the base image; the nodes already have it. The
    // last test's result holds until the next test.
    if (inUse !== null && setUp.baseImage !== null) slot.keep(swarm.firewalls.assertAll);
    const prepared = await prepare(swarm, ofManager, parts, (image) => {
      slot.keep(swarm.firewalls.assertAll);
      void isolation
        .checkRules()
        .catch((err: unknown) => setUp.log.error({ err }, 'packet filters of nodes'));
      isolation.begin(swarmCanary(swarm, image));
    });
    preparing = Promise.all([preparing, prepared.background]);
    inUse = attached;
    beginAt = attached.endpoint;
    return slot.runtime.watch(setUp.onHint);
  };
  const hasOtherAddress = setUp.config.swarm.managers.length > 1;
  return {
    /** Returns the function that ends the watch. Throws while no manager can be used. */
    connect: async (): Promise<() => void> =>
      await connect().catch(async (error: unknown) => {
        disconnect();
        // Another process uses the containers of the Swarm in the database: this one would take them for lost.
        if (error instanceof EngineNotChosen) await leaveSwarm();
        throw error;
      }),
    mustSwitch: async (): Promise<boolean> =>
      inUse !== null &&
      ((await isOtherSwarmRecorded(setUp.installation, inUse.swarmId)) ||
        (await mustSwitchManager(inUse.swarm.manager, hasOtherAddress))),
    /** Resolves when nothing prepares an image any more. */
    prepared: async (): Promise<unknown> => await preparing,
  };
}

type InUse = { readonly endpoint: string; readonly swarmId: string; readonly swarm: Swarm };

async function attach(setUp: EngineSetUp, slot: EngineSlot, parts: Parts, last: LastSwarm): Promise<InUse> {
  const { config, instanceId, baseImage, metrics, log } = setUp;
  const { endpoint, docker, swarmId } = await findManager(setUp, last);
  const mode = config.diskQuota === 'hard' ? 'none' : 'measured';
  const swarm = openSwarm(docker, {
    instanceId,
    swarmId,
    node: NODE,
    addresses: config.swarm,
    toolsImage: baseImage,
    disk: { ...COUNTED, mode },
    processLimits: await processLimits(),
    staleNodes: last.staleNodes,
  });
  await recordUse(config.dataDir, { kind: 'swarm', endpoint, id: swarmId }, log);
  const { turns, ...inside } = swarmInside(swarm);
  turns.listen(metrics.engineWaited);
  metrics.watch('engine_waiting', () => turns.waiting().calls);
  metrics.watch('engine_work_waiting', () => turns.waiting().work);
  slot.fill({
    ...inside,
    runtime: swarmRuntime(swarm),
    warmPool: swarmWarmPool(swarm.manager),
    kernelShares: { read: async () => null },
    host: swarmHost(swarm),
  });
  parts.disk = mode === 'none' ? NO_QUOTA : { status: 'ready', detail: 'soft: measured every minute' };
  describeHealth(swarm, endpoint, setUp, slot, parts);
  return { endpoint, swarmId, swarm };
}

function describeHealth(
  swarm: Swarm,
  endpoint: string,
  { log, signal }: EngineSetUp,
  slot: EngineSlot,
  parts: Parts,
): void {
  const nodesLog = sparingLog(log);
  const describe = async (): Promise<void> => {
    const state = await engineState(swarm, endpoint);
    // Berth has left this manager since: its answer is out of date.
    if (signal.aborted) return;
    parts.engine = state;
    if (parts.engine.status === 'ready') nodesLog.over('all nodes of the Swarm can be used');
    else nodesLog.warn(parts.engine.detail);
  };
  slot.describeWith(describe);
  // Old nodes may first get an image to try out.
  parts.engine = { status: 'ready', detail: `Swarm at ${endpoint}` };
  void describe().catch((err: unknown) => log.warn({ err }, 'the health of the Swarm is not known'));
}

/** The image is made on the manager; each node gets it from there. */
async function prepare(
  swarm: Swarm,
  { baseImage, config, instanceId, log, signal }: EngineSetUp,
  parts: Parts,
  onImage: (image: string) => void,
): Promise<{ readonly background: Promise<void> }> {
  if (baseImage === null) {
    parts.image = NO_DEFAULT_IMAGE;
    return { background: Promise.resolve() };
  }
  const { manager, networks } = swarm;
  const network = await networks.ensureOn(await manager.ownNodeId());
  const mayInstall = config.engine === 'auto';
  const source = { docker: manager.calls.docker, reference: baseImage, network, instanceId, mayInstall };
  return await prepareBaseImage({
    source,
    parts,
    log,
    signal,
    onImage: () => onImage(baseImage),
    onTools: () => {},
  });
}

const NO_QUOTA = {
  status: 'degraded',
  detail: 'no volume can be created: volumes of nodes have no hard quota',
  reason: 'unenforced',
  mend: 'set BERTH_DISK_QUOTA=soft',
} as const;

const ON_NODES: Closing = {
  ...BY_PACKET_FILTER,
  around: 'services of the nodes',
  mend: 'see the log and docs/swarm.md, or block this in the packet filter of the nodes',
  mendChanged: 'see the log for the rules, and find out what on the node changes them',
  docs: 'docs/swarm.md',
};

/** The rules and their test need an image that is known to have perl. */
const UNTESTED = {
  status: 'degraded',
  detail: 'the packet filters of nodes are not set, because the catalogue has no default image',
  reason: 'untested',
  mend: 'add the default image to the catalogue',
} as const;
