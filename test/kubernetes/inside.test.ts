import { randomUUID } from 'node:crypto';
import t from 'tap';
import { apiClient } from '../../src/adapters/kubernetes/client/api-client.ts';
import { clusterAccess } from '../../src/adapters/kubernetes/client/cluster-access.ts';
import { clusterInside } from '../../src/adapters/kubernetes/container-inside.ts';
import { clusterRuntime } from '../../src/adapters/kubernetes/containers/container-runtime.ts';
import type { ContainerRuntime, ContainerSpec } from '../../src/ports/containers/container-runtime.ts';
import { containerAccessContract } from '../contract/containers/inside/container-access.ts';
import { containerProcessesContract } from '../contract/containers/processes/container-processes.ts';
import { terminalBackendContract } from '../contract/terminals/terminal-backend.ts';
import { aSpec } from '../support/engine/container.ts';
import { testCluster } from '../support/kubernetes/cluster.ts';

const { kubeconfig, namespace, image } = testCluster();
const client = apiClient(await clusterAccess({ kubeconfig, context: null, namespace }));
const disk = { quota: 'soft', measure: async () => null } as const;
const settings = { instanceId: randomUUID(), node: 'cluster', storageClass: null, disk };
const engine = clusterRuntime(client, settings);
const made: ContainerSpec[] = [];
/** What it makes is removed after the test. */
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

const inside = clusterInside({ client, observe: engine.observe, node: settings.node });
const handle = await runtime.create(aSpec(image));
await runtime.start(handle);
await containerAccessContract('cluster', { ...inside, runtime, image, knowsChanges: false });
await containerProcessesContract('cluster', { ...inside, runtime, image });
await terminalBackendContract('cluster', { ...inside, handle });
