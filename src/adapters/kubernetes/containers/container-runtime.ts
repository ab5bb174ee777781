import type { EngineCapabilities } from '../../../domain/containers/engine-capabilities.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import type { ContainerRuntime } from '../../../ports/containers/container-runtime.ts';
import { withoutSnapshots } from '../../without-snapshots.ts';
import type { ApiClient } from '../client/api-client.ts';
import { type Namespace, namespaceOf } from '../client/namespace.ts';
import { type ClaimSettings, type Claims, volumeClaims } from '../volumes/claims.ts';
import { clusterDisk, type DiskSettings } from '../volumes/container-disk.ts';
import { clusterObserver } from './container-observer.ts';
import { resizeContainer } from './pod-resize.ts';
import type { PodSettings } from './pod-spec.ts';
import { containerPods, type Patience, type Pods } from './pods.ts';
import { containerRecords, type Records } from './records.ts';

export type ClusterSettings = PodSettings &
  ClaimSettings & {
    /** This cluster's name in handles. */
    readonly node: string;
    readonly disk: DiskSettings;
    /** How long a Pod may take to start, and to go beyond its grace period. */
    readonly patience?: Patience;
  };

/** Containers as Pods of one namespace, with all that belongs to them. */
export function clusterRuntime(client: ApiClient, settings: ClusterSettings): ContainerEngine {
  const namespace = namespaceOf(client);
  const records = containerRecords(namespace, settings.instanceId);
  const claims = volumeClaims(namespace, settings);
  const pods = containerPods(namespace, settings, settings.patience);
  return {
    capabilities: CLUSTER_CAPABILITIES,
    ...lifecycle({ records, claims, pods, namespace }, settings.node),
    ...clusterObserver(namespace, records, settings),
    ...clusterDisk(claims, records, settings.disk),
    // A cluster has no way to make an image of a Pod, and does not pause Pods.
    ...withoutSnapshots('a cluster'),
  };
}

export const CLUSTER_CAPABILITIES: EngineCapabilities = {
  keepsLayer: false,
  takesSnapshots: false,
  measuresDisk: false,
  hasRoot: false,
};

type Parts = {
  readonly records: Records;
  readonly claims: Claims;
  readonly pods: Pods;
  readonly namespace: Namespace;
};

const lifecycle = ({ records, claims, pods, namespace }: Parts, node: string): ContainerRuntime => ({
  async create(spec) {
    await claims.ensure(spec);
    return { node, runtimeId: await records.create(spec) };
  },
  async start({ runtimeId }) {
    const record = await records.require(runtimeId);
    await claims.beforeStart(record.spec.volume, record.spec.resources.diskMb);
    await pods.start(record);
  },
  async stop({ runtimeId }, graceSeconds) {
    const record = await records.find(runtimeId);
    const owner = record ?? (await pods.ownerWithoutRecord(runtimeId));
    if (owner !== null) await pods.end(owner, graceSeconds, record === null ? 'gone' : 'ended');
    return record === null ? 'gone' : 'stopped';
  },
  // Recorded first: the next Pod has the new limits, even when this one cannot get them.
  async resize({ runtimeId }, resources) {
    const record = await records.require(runtimeId);
    await records.resize(record, resources);
    await resizeContainer(namespace, pods, { ...record, spec: { ...record.spec, resources } });
  },
  async remove({ runtimeId }) {
    const owner = (await records.find(runtimeId)) ?? (await pods.ownerWithoutRecord(runtimeId));
    if (owner === null) return;
    await pods.end(owner, 0, 'gone');
    await records.remove(runtimeId);
  },
  claim: async ({ runtimeId }) => await records.claim(runtimeId),
  endHung: async () => false,
});
