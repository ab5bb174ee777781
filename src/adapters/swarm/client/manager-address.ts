import type Docker from 'dockerode';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { dockerAt } from '../../docker/engine/engine-client.ts';
import { addressOf, DEFAULT_SOCKET } from '../../docker/engine/engine-probe.ts';
import { areOther } from '../../engine-record.ts';
import { swarmManager } from './manager.ts';

export type ManagerAt = { readonly endpoint: string; readonly docker: Docker };

/** The manager that answered last, and the id of its swarm. */
export type LastManager = { readonly endpoint: string; readonly clusterId: string | null };

/** A manager by an address like that of DOCKER_HOST. Opens no connection yet. */
export function managerAt(endpoint: string, certPath: string | null): ManagerAt {
  const docker = dockerAt(addressOf(endpoint, endpoint.startsWith('unix:') ? null : certPath));
  return { endpoint, docker };
}

/**
 * The manager to use: of several the first that answers for its swarm, beginning with `last`, which also says of which
 * swarm it must be. Without any address the one of the usual socket. Throws what each one said when none answers.
 */
export async function answeringManager(
  endpoints: readonly string[],
  certPath: string | null,
  last: LastManager | null = null,
): Promise<ManagerAt> {
  const [only = `unix://${DEFAULT_SOCKET}`, ...others] = endpoints;
  if (others.length === 0) return managerAt(only, certPath);
  const first = Math.max(0, endpoints.indexOf(last?.endpoint ?? ''));
  const faults: string[] = [];
  for (const endpoint of [...endpoints.slice(first), ...endpoints.slice(0, first)]) {
    try {
      const manager = managerAt(endpoint, certPath);
      await requireAnswer(manager, last?.clusterId ?? null);
      return manager;
    } catch (error) {
      faults.push(`${endpoint}: ${String(error)}`);
    }
  }
  throw new RuntimeUnavailable(`no manager of the swarm answers: ${faults.join('; ')}`);
}

/** Throws unless it is a manager of the swarm that has a leader. */
async function requireAnswer({ docker }: ManagerAt, clusterId: string | null): Promise<void> {
  const manager = swarmManager(docker);
  await manager.ownNodeId();
  await manager.heartbeatSeconds();
  if (areOther(clusterId, await manager.clusterId())) throw new Error('it is a manager of another swarm');
}
