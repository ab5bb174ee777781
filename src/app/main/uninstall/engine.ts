import type Docker from 'dockerode';
import { addressOf, engineIdOf, probe } from '../../../adapters/docker/engine/engine-probe.ts';
import {
  countOnEngine,
  type EngineLeftovers,
  removeBaseImage,
  removeFromEngine,
} from '../../../adapters/docker/uninstall/engine-leftovers.ts';
import { forgetting } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import { areOther, type Recorded, type RecordedElsewhere } from '../../../adapters/engine-record.ts';
import { answeringManager } from '../../../adapters/swarm/client/manager-address.ts';
import { swarmLeftovers } from '../../../adapters/swarm/uninstall/swarm-leftovers.ts';
import type { Config } from '../config.ts';

/** An engine that Berth did not start, with what it has of an installation. */
export type UsedEngine = {
  /** For the list of what is removed: `the engine`. */
  readonly name: string;
  readonly leftovers: EngineLeftovers;
  /** In sentences, what a removal does not reach. */
  readonly stays: readonly string[];
  /** Returns in sentences what could not be removed. */
  remove(): Promise<readonly string[]>;
};

/** An installation, by the id in its labels, and the default image of its catalogue, if known. */
export type Instance = { readonly id: string; readonly defaultImage: string | null };

/**
 * All engines that an installation has used, except a private one, and clusters, from which nothing is removed. Throws
 * when one of them, or one of its nodes, does not answer, and when another engine does.
 */
export async function usedEngines(
  config: Config,
  records: readonly Recorded[],
  instance: Instance,
): Promise<readonly UsedEngine[]> {
  const elsewhere = records.filter((each) => each.kind !== 'private');
  const swarm = config.engine === 'swarm' ? [await usedSwarm(config, elsewhere, instance)] : [];
  // After the swarm, which would replace the containers of its services.
  return [...swarm, ...(await usedExternals(config, elsewhere, instance.id))];
}

async function usedSwarm(
  { swarm }: Config,
  records: readonly RecordedElsewhere[],
  instance: Instance,
): Promise<UsedEngine> {
  const recorded = records.filter(({ kind }) => kind === 'swarm');
  const managers =
    swarm.managers.length > 0 ? swarm.managers : recorded.slice(0, 1).map(({ endpoint }) => endpoint);
  const { endpoint, docker } = await answeringManager(managers, swarm.certPath);
  const { clusterId, count, remove } = swarmLeftovers(docker, swarm, instance.id, instance.defaultImage);
  if (recorded.length > 0) {
    const id = await clusterId();
    for (const record of recorded) if (areOther(record.id, id)) throw new Error(otherAt(endpoint, record));
  }
  const leftovers = await count();
  return { name: 'the Swarm, on all nodes', leftovers, stays: leftovers.stays, remove };
}

async function usedExternals(
  { engine, dockerHost }: Config,
  records: readonly RecordedElsewhere[],
  instanceId: string,
): Promise<readonly UsedEngine[]> {
  // With other engines it is the address of those, or of none.
  const given = engine === 'auto' || engine === 'external' ? dockerHost : null;
  const recorded = records.filter(({ kind }) => kind === 'external');
  const unrecorded = given === null ? [] : [{ kind: 'external', endpoint: given } as const];
  const found = new Map<string, Docker>();
  for (const record of recorded.length > 0 ? recorded : unrecorded) {
    const { endpoint, docker } = await externalOf(record, given ?? record.endpoint);
    found.set(endpoint, docker);
  }
  return await Promise.all(
    [...found.values()].map(async (docker) => ({
      name: 'the engine',
      leftovers: await countOnEngine(docker, instanceId),
      stays: [],
      async remove() {
        await removeFromEngine(docker, instanceId);
        const isShared = await removeBaseImage(docker, instanceId);
        return isShared ? ['The base image stays: another installation uses the engine.'] : [];
      },
    })),
  );
}

/** The engine at `endpoint`, or where it was recorded when another engine answers there. */
async function externalOf(
  record: RecordedElsewhere,
  endpoint: string,
): Promise<{ readonly endpoint: string; readonly docker: Docker }> {
  const answer = await probe(addressOf(endpoint, null));
  if (!answer.answers)
    throw new Error(
      `the engine at ${endpoint} has containers and volumes of Berth, but does not answer: start it, or ${forgetting(record)}`,
    );
  if (!areOther(record.id, await engineIdOf(answer))) return { endpoint, docker: answer.docker };
  if (endpoint !== record.endpoint) return await externalOf(record, record.endpoint);
  throw new Error(otherAt(endpoint, record));
}

/** In words. */
export const kindOfEngine = ({ kind }: RecordedElsewhere): string => (kind === 'swarm' ? 'Swarm' : 'engine');

const otherAt = (endpoint: string, record: RecordedElsewhere): string =>
  `at ${endpoint} is another ${kindOfEngine(record)} than the one that this installation used at ${record.endpoint}: set DOCKER_HOST to an address of that one, or ${forgetting(record)}`;
