import {
  DB_ID_LABEL,
  GENERATION_LABEL,
  INSTANCE_LABEL,
} from '../../../src/adapters/docker/engine/engine-names.ts';
import { runtimeIdOf } from '../../../src/adapters/swarm/containers/names.ts';
import type { EngineSeen } from '../process/invariants.ts';
import type { SwarmCluster } from './cluster.ts';

/** What the Swarm and its engines have: a container is a service, which runs when a node runs a task of it. */
export const swarmSeen = (cluster: SwarmCluster): EngineSeen => ({
  async containersOf(instance) {
    const filters = { label: [`${INSTANCE_LABEL}=${instance}`, DB_ID_LABEL] };
    const services = await cluster.engineOf().listServices({ filters: { label: [...filters.label] } });
    const running = await Promise.all(
      cluster.nodes.map(({ name }) => cluster.engineOf(name).listContainers({ filters })),
    );
    const names = new Set(running.flat().map(({ Labels }) => Labels['com.docker.swarm.service.name']));
    return services.map(({ Spec }) => {
      const { Name, Labels } = Spec as { Name: string; Labels: Readonly<Record<string, string>> };
      const dbId = Labels[DB_ID_LABEL] ?? '';
      const runtimeId = runtimeIdOf(instance, dbId, Number(Labels[GENERATION_LABEL]));
      return { runtimeId, dbId, state: names.has(Name) ? 'running' : 'stopped' };
    });
  },
  async hasVolume(volume) {
    const found = await Promise.all(
      cluster.nodes.map(({ name }) =>
        cluster
          .engineOf(name)
          .getVolume(volume)
          .inspect()
          .then(
            () => true,
            () => false,
          ),
      ),
    );
    return found.includes(true);
  },
});
