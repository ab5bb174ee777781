import type Docker from 'dockerode';
import { DB_ID_LABEL } from '../../../src/adapters/docker/engine/engine-names.ts';
import type { NodeName, SwarmCluster } from './cluster.ts';

/** On the container of a task. */
export const TASK_LABEL = 'com.docker.swarm.task.id';

type TaskContainer = { readonly id: string; readonly node: NodeName; readonly engine: Docker };

/** The running containers of a workspace's tasks, seen past the network. */
export async function taskContainers(cluster: SwarmCluster, dbId: string): Promise<readonly TaskContainer[]> {
  const found = await Promise.all(
    cluster.nodes.map(async ({ name }) => {
      const engine = cluster.engineOf(name);
      const filters = { label: [TASK_LABEL, `${DB_ID_LABEL}=${dbId}`] };
      return (await engine.listContainers({ filters })).map(({ Id }) => ({ id: Id, node: name, engine }));
    }),
  );
  return found.flat();
}
