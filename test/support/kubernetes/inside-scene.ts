import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { apiClient } from '../../../src/adapters/kubernetes/client/api-client.ts';
import { clusterAccess } from '../../../src/adapters/kubernetes/client/cluster-access.ts';
import { clusterInside } from '../../../src/adapters/kubernetes/container-inside.ts';
import { clusterRuntime } from '../../../src/adapters/kubernetes/containers/container-runtime.ts';
import type { ContainerRuntime, ContainerSpec } from '../../../src/ports/containers/container-runtime.ts';
import type { TestCluster } from './cluster.ts';

/** Access to containers in a real cluster. What its runtime makes is removed after the test. */
export async function insideOf(t: Pick<Test, 'teardown'>, { kubeconfig, namespace, image }: TestCluster) {
  const client = apiClient(await clusterAccess({ kubeconfig, context: null, namespace }));
  const engine = clusterRuntime(client, {
    instanceId: randomUUID(),
    node: 'cluster',
    storageClass: null,
    disk: { quota: 'soft', measure: async () => null },
    // By another name, so that its Pods get the tools, too.
    toolsImage: image.replace(/^docker\.io\//, ''),
  });
  const made: ContainerSpec[] = [];
  const runtime: ContainerRuntime = {
    ...engine,
    async create(spec) {
      made.push(spec);
      return await engine.create(spec);
    },
  };
  t.teardown(async () => {
    for (const { dbId, generation, volume } of made) {
      const handle = await engine.find(dbId, generation);
      if (handle !== null) await engine.remove(handle);
      await engine.removeVolume(volume);
    }
  });
  return { ...clusterInside({ client, observe: engine.observe, node: 'cluster' }), runtime };
}
