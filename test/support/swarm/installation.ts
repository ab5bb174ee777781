import type Docker from 'dockerode';
import type { Test } from 'tap';
import { INSTANCE_LABEL, networkName } from '../../../src/adapters/docker/engine/engine-names.ts';
import { eventually } from '../patience.ts';
import { anInstallationElsewhere } from '../process/running-service.ts';
import type { SwarmCluster } from './cluster.ts';
import { TASK_LABEL } from './task-containers.ts';

/** Settings of a Berth on this machine whose containers are in the Swarm; all that it left there goes with `t`. */
export const anInstallationIn = (t: Test, cluster: SwarmCluster, more: NodeJS.ProcessEnv = {}) =>
  anInstallationElsewhere(t, { ...swarmSettings(cluster), ...more }, (instance) =>
    removeInstance(cluster, instance),
  );

/** How Berth reaches the Swarm. */
export const swarmSettings = ({ dockerHost, certificates }: SwarmCluster) => ({
  BERTH_ENGINE: 'swarm',
  DOCKER_HOST: dockerHost,
  DOCKER_CERT_PATH: certificates,
  BERTH_SWARM_NODE_URL: 'https://{addr}:2376',
});

/** Removes everything of an installation from the Swarm and its engines. */
export async function removeInstance(cluster: SwarmCluster, instance: string): Promise<void> {
  const filters = { label: [`${INSTANCE_LABEL}=${instance}`] };
  const manager = cluster.engineOf();
  for (const { ID } of await manager.listServices({ filters })) await manager.getService(ID).remove();
  const configs = await manager.listConfigs({ filters: JSON.stringify(filters) as never });
  for (const { ID } of configs) await manager.getConfig(ID).remove();
  for (const { name } of cluster.nodes) {
    const engine = cluster.engineOf(name);
    const tasks = { label: [...filters.label, TASK_LABEL] };
    const left = () => engine.listContainers({ all: true, filters: tasks });
    // The Swarm ends tasks of removed services when it gets to it.
    await eventually(left, ({ length }) => length === 0, { everyMs: 200 });
    for (const { Id } of await engine.listContainers({ all: true, filters }))
      await engine.getContainer(Id).remove({ force: true, v: true });
    const { Volumes } = await engine.listVolumes({ filters: JSON.stringify(filters) as never });
    for (const { Name } of Volumes ?? []) await engine.getVolume(Name).remove({ force: true });
  }
  await removeNetworks(cluster, instance, filters);
}

/** The Swarm's network first: it is made of those of the nodes. */
async function removeNetworks(
  cluster: SwarmCluster,
  instance: string,
  filters: { readonly label: string[] },
): Promise<void> {
  const remove = (engine: Docker, id: string) =>
    engine
      .getNetwork(id)
      .remove()
      .catch(() => {});
  await remove(cluster.engineOf(), networkName(instance));
  for (const { name } of cluster.nodes) {
    const engine = cluster.engineOf(name);
    for (const { Id } of await engine.listNetworks({ filters })) await remove(engine, Id);
  }
}
