import type Docker from 'dockerode';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { dockerAt } from '../../docker/engine/engine-client.ts';
import { addressOf, DEFAULT_SOCKET } from '../../docker/engine/engine-probe.ts';
import { OtherSwarm, swarmManager } from './manager.ts';

export type ManagerClient = { readonly endpoint: string; readonly docker: Docker };

/** An address, and why it cannot be used. */
export type ManagerFault = { readonly endpoint: string; readonly error: unknown };

export type AnsweringManager = ManagerClient & {
  readonly swarmId: string;
  /** The managers that were tried before. */
  readonly faults: readonly ManagerFault[];
};

/** None of the configured managers can be used. */
export class NoManager extends RuntimeUnavailable {
  override name = 'NoManager';
  readonly faults: readonly ManagerFault[];

  constructor(faults: readonly ManagerFault[]) {
    super(`no manager of the Swarm can be used: ${faults.map(faultText).join('; ')}`);
    this.faults = faults;
  }
}

const faultText = ({ endpoint, error }: ManagerFault): string => `${endpoint}: ${String(error)}`;

/** The tried managers that are in another swarm. */
export const inOtherSwarms = (faults: readonly ManagerFault[]): readonly ManagerFault[] =>
  faults.filter(({ error }) => error instanceof OtherSwarm);

/** A manager by an address like that of DOCKER_HOST. Opens no connection yet. */
function managerAt(endpoint: string, certPath: string | null): ManagerClient {
  const docker = dockerAt(addressOf(endpoint, endpoint.startsWith('unix:') ? null : certPath));
  return { endpoint, docker };
}

type Choice = {
  readonly certPath: string | null;
  /** Ids of the swarms that the installation has used. When empty, any swarm will do. */
  readonly ownIds: readonly string[];
  /** The address to begin with. */
  readonly beginAt?: string | null;
};

/** The given addresses, or without any that of the usual socket. */
export const orDefaultSocket = (endpoints: readonly string[]): readonly string[] =>
  endpoints.length > 0 ? endpoints : [`unix://${DEFAULT_SOCKET}`];

/**
 * The first manager that answers for a swarm of the installation. Tries addresses in order from `beginAt`, wrapping
 * around. Throws `NoManager`.
 */
export async function answeringManager(
  endpoints: readonly string[],
  { certPath, ownIds, beginAt = null }: Choice,
): Promise<AnsweringManager> {
  const all = orDefaultSocket(endpoints);
  const first = Math.max(0, all.indexOf(beginAt ?? ''));
  const faults: ManagerFault[] = [];
  for (const endpoint of [...all.slice(first), ...all.slice(0, first)]) {
    try {
      const manager = managerAt(endpoint, certPath);
      return { ...manager, swarmId: await swarmIdOf(manager, ownIds), faults };
    } catch (error) {
      faults.push({ endpoint, error });
    }
  }
  throw new NoManager(faults);
}

/** Throws unless it is a manager of an own swarm that has a leader. */
async function swarmIdOf({ docker }: ManagerClient, ownIds: readonly string[]): Promise<string> {
  const manager = swarmManager(docker, ownIds.length > 0 ? ownIds : null);
  await manager.ownNodeId();
  return await manager.requireOwn();
}
