import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';
import { type ApiClient, apiClient } from '../../../src/adapters/kubernetes/client/api-client.ts';
import { clusterAccess } from '../../../src/adapters/kubernetes/client/cluster-access.ts';
import {
  type ClusterSettings,
  clusterRuntime,
} from '../../../src/adapters/kubernetes/containers/container-runtime.ts';
import type { ContainerEngine } from '../../../src/ports/containers/container-engine.ts';
import type { ContainerSpec } from '../../../src/ports/containers/container-runtime.ts';
import { aSpec } from '../engine/container.ts';
import { type StandInCluster, startStandInCluster } from './api-server.ts';

type ClusterScene = {
  readonly cluster: StandInCluster;
  readonly client: ApiClient;
  readonly settings: ClusterSettings;
  readonly runtime: ContainerEngine;
  readonly image: string;
};

const IMAGE = 'registry.example/box:1';

/** A stand-in cluster that ends with the test, and a runtime on it. */
export async function clusterScene(
  t: Pick<Test, 'testdir' | 'teardown'>,
  given: Partial<ClusterSettings> = {},
): Promise<ClusterScene> {
  const cluster = await startStandInCluster();
  t.teardown(cluster.close);
  for (const image of [IMAGE, given.toolsImage]) if (image != null) cluster.node.images.add(image);
  const kubeconfig = path.join(t.testdir(), 'config');
  await writeFile(kubeconfig, JSON.stringify(cluster.kubeconfig));
  const client = apiClient(await clusterAccess({ kubeconfig, context: null, namespace: null }));
  const settings: ClusterSettings = {
    instanceId: '2f1d3c5e-0000-4000-8000-000000000001',
    node: 'cluster',
    storageClass: null,
    disk: { quota: 'soft', measure: async () => 4096 },
    ...given,
  };
  return { cluster, client, settings, runtime: clusterRuntime(client, settings), image: IMAGE };
}

/** The same, with a container that has been started. */
export async function startedIn(
  t: Pick<Test, 'testdir' | 'teardown'>,
  given: Partial<ClusterSettings> = {},
  over: Partial<ContainerSpec> = {},
) {
  const scene = await clusterScene(t, given);
  const spec = aSpec(scene.image, over);
  const handle = await scene.runtime.create(spec);
  await scene.runtime.start(handle);
  return { ...scene, spec, handle, pod: () => scene.cluster.store.get('pods', `ws-${spec.dbId}`) };
}
