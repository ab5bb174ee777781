import { otherCluster, recordUse } from '../../../adapters/engine-record.ts';
import { type ApiClient, apiClient } from '../../../adapters/kubernetes/client/api-client.ts';
import { clusterAccess } from '../../../adapters/kubernetes/client/cluster-access.ts';
import { namespaceOf } from '../../../adapters/kubernetes/client/namespace.ts';
import { clusterInside } from '../../../adapters/kubernetes/container-inside.ts';
import {
  CLUSTER_CAPABILITIES,
  clusterRuntime,
} from '../../../adapters/kubernetes/containers/container-runtime.ts';
import { clusterWarmPool } from '../../../adapters/kubernetes/containers/warm-pool.ts';
import { clusterCanary } from '../../../adapters/kubernetes/network/isolation-probe.ts';
import { networkPolicy } from '../../../adapters/kubernetes/network/network-policy.ts';
import type { DiskSettings } from '../../../adapters/kubernetes/volumes/container-disk.ts';
import type { PartState } from '../../../domain/service/health.ts';
import { RightMissing } from '../../../ports/containers/container-runtime.ts';
import { type Parts, PREPARING, SEEN_BY_NODE } from '../health/readiness.ts';
import { NODE } from './attach-engine.ts';
import type { EngineInUse, EngineSetUp } from './container-engine.ts';
import { type EngineSlot, engineSlot } from './engine-ports.ts';
import { type Closing, NOT_TESTED } from './isolation-check.ts';
import { startIsolationUpkeep } from './isolation-upkeep.ts';
import { reconnecting } from './reconnect.ts';
import { EngineNotChosen, requireNoSwarm } from './swarm-record.ts';

const RULES_EVERY_MS = 30_000;

/**
 * Connects the ports to a Kubernetes cluster. Until it answers they refuse, and the connection is tried again every few
 * seconds. Throws when the signal comes first. `stopWith` receives the function that ends the work; containers run on.
 */
export async function useCluster(
  stopWith: (stop: () => Promise<void>) => void,
  setUp: EngineSetUp & { readonly againMs?: number },
): Promise<EngineInUse> {
  const { log, signal, againMs } = setUp;
  const slot = engineSlot(CLUSTER_CAPABILITIES);
  const parts: Parts = {
    engine: PREPARING,
    image: PULLED,
    disk: PREPARING,
    isolation: setUp.baseImage === null ? UNTESTED : NOT_TESTED,
    resources: SEEN_BY_NODE,
  };
  const isolation = startIsolationUpkeep({
    slot,
    parts,
    log,
    closing: BY_POLICY,
    rulesEveryMs: RULES_EVERY_MS,
  });
  const connect = async (): Promise<() => void> => {
    const client = await attach(setUp, slot, parts);
    const { instanceId, baseImage: image } = setUp;
    if (image !== null) isolation.begin(clusterCanary(client, { instanceId, image }));
    return slot.runtime.watch(setUp.onHint);
  };
  const onFault = (err: unknown): void => {
    parts.engine = faultState(err);
    parts.disk = NOT_USABLE;
  };
  const connection = reconnecting({ name: 'the cluster', log, signal, againMs, connect, onFault });
  stopWith(async () => {
    await connection.stop();
    await isolation.stop();
  });
  await connection.begin();
  return { ...slot, parts };
}

async function attach(
  { config, instanceId, installation, baseImage, metrics, log }: EngineSetUp,
  slot: EngineSlot,
  parts: Parts,
): Promise<ApiClient> {
  const other = await otherCluster(config.dataDir, 'kubernetes');
  if (other !== null) throw new Error(other);
  await requireNoSwarm(installation);
  const client = apiClient(await clusterAccess(config.cluster));
  const namespace = namespaceOf(client);
  await namespace.ping();
  await recordUse(config.dataDir, { kind: 'kubernetes', endpoint: client.access.server }, log);
  const assertRules = networkPolicy(namespace, instanceId);
  await assertRules();
  slot.keep(assertRules);
  const quota = config.diskQuota === 'hard' ? 'hard' : 'soft';
  const { storageClass } = config.cluster;
  const disk: DiskSettings = { quota, measure: (...asked) => usedBytes(...asked) };
  const runtime = clusterRuntime(client, {
    instanceId,
    node: NODE,
    storageClass,
    disk,
    toolsImage: baseImage,
  });
  const { usedBytes, turns, ...inside } = clusterInside({ client, observe: runtime.observe, node: NODE });
  turns.listen(metrics.engineWaited);
  metrics.watch('engine_waiting', () => turns.waiting().calls);
  metrics.watch('engine_work_waiting', () => turns.waiting().work);
  slot.fill({
    ...inside,
    runtime,
    warmPool: clusterWarmPool(client),
    kernelShares: { read: async () => null },
    host: { figures: async () => UNKNOWN, loads: async () => null },
  });
  const detail = `Kubernetes at ${client.access.server}, namespace ${client.access.namespace}`;
  parts.engine = { status: 'ready', detail };
  parts.disk = {
    status: 'ready',
    detail: `${quota}: volumes of ${storageClass ?? 'the default storage class'}`,
  };
  return client;
}

const NOT_USABLE = {
  status: 'degraded',
  detail: 'the cluster is not usable',
  reason: 'unusable',
  mend: 'see the log, and docs/cluster.md',
} as const;

function faultState(error: unknown): PartState {
  if (error instanceof EngineNotChosen) return { ...NOT_USABLE, mend: error.mend };
  return error instanceof RightMissing ? withoutRight(error) : NOT_USABLE;
}

/** In the administrator's words: the log has those of the API server. */
const withoutRight = ({ right }: RightMissing) =>
  ({
    ...NOT_USABLE,
    detail: `Berth lacks a right in the cluster: ${right}`,
    mend: 'grant it: see docs/cluster.md',
  }) as const;

const PULLED = { status: 'ready', detail: 'nodes pull an image when a container needs it' } as const;

const BY_POLICY: Closing = {
  by: 'network policy',
  around: 'the cluster',
  mend: 'use a network plugin that enforces network policies (see docs/cluster.md)',
  mendChanged: 'see the log, and find out what changes it in the cluster',
  docs: 'docs/cluster.md',
};

/** The check's Pods need an image that is known to have perl. */
const UNTESTED = {
  status: 'ready',
  detail: 'by a network policy; not tested, because the catalogue has no default image',
} as const;

/** Capacity belongs to the cluster, which has its own tools for it. */
const UNKNOWN = {
  cpuMillicores: null,
  cpuUsedMillicores: null,
  memoryBytes: null,
  memoryUsedBytes: null,
  images: null,
};
