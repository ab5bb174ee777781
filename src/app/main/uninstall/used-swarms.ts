import { forgetting } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import { idsOf, type RecordedElsewhere } from '../../../adapters/engine-record.ts';
import {
  type AnsweringManager,
  answeringManager,
  inOtherSwarms,
  managersOf,
  NoManager,
} from '../../../adapters/swarm/client/manager-address.ts';
import { swarmLeftovers } from '../../../adapters/swarm/uninstall/swarm-leftovers.ts';
import type { Config } from '../config.ts';
import { type Instance, otherAt, type Records, type UsedEngine } from './used-engine.ts';

/**
 * The Swarms that an installation has used, each by a manager of the settings or of its record. Where all of them are
 * forgotten, the one of the settings, whose nodes may have volumes of the old one.
 */
export async function usedSwarms(
  config: Config,
  { kept, forgotten }: Records,
  instance: Instance,
): Promise<readonly UsedEngine[]> {
  const recorded = kept.filter((each): each is RecordedElsewhere => each.kind === 'swarm');
  const wereForgotten = forgotten.filter(({ kind }) => kind === 'swarm');
  const found = new Map<string, AnsweringManager>();
  for (const record of recorded) {
    const manager = await managerOf(config, record);
    found.set(manager.swarmId, manager);
  }
  if (recorded.length === 0) {
    const manager = await unrecordedManager(config, wereForgotten);
    if (manager !== null) found.set(manager.swarmId, manager);
  }
  return await Promise.all([...found.values()].map((each) => usedSwarm(each, config, instance)));
}

async function usedSwarm(
  { docker }: AnsweringManager,
  { swarm }: Config,
  { id, defaultImage }: Instance,
): Promise<UsedEngine> {
  const { count, remove } = swarmLeftovers(docker, swarm, id, defaultImage);
  const leftovers = await count();
  return { name: 'the Swarm, on all nodes', leftovers, stays: leftovers.stays, remove };
}

async function managerOf({ swarm }: Config, record: RecordedElsewhere): Promise<AnsweringManager> {
  const managers = [...new Set([...swarm.managers, record.endpoint])];
  const ownIds = idsOf([record], 'swarm');
  try {
    return await answeringManager(managers, { certPath: swarm.certPath, ownIds });
  } catch (error) {
    if (!(error instanceof NoManager)) throw error;
    const [other] = inOtherSwarms(error.faults);
    const message =
      other === undefined
        ? `${error.message}: start one, or ${forgetting(record)}`
        : otherAt(other.endpoint, record, swarm.managers.length > 1 ? 'BERTH_SWARM_MANAGERS' : 'DOCKER_HOST');
    throw new Error(message, { cause: error });
  }
}

/** Throws when none answers, unless a Swarm was forgotten, which is then not used. */
async function unrecordedManager(
  { swarm: { managers, certPath } }: Config,
  forgotten: readonly RecordedElsewhere[],
): Promise<AnsweringManager | null> {
  if (forgotten.length === 0) return await answeringManager(managers, { certPath, ownIds: [] });
  const goneIds = idsOf(forgotten, 'swarm');
  const goneAt = forgotten.filter(({ id }) => id === undefined).map(({ endpoint }) => endpoint);
  for (const endpoint of managersOf(managers).filter((each) => !goneAt.includes(each))) {
    const manager = await answeringManager([endpoint], { certPath, ownIds: [] }).catch(() => null);
    if (manager !== null && !goneIds.includes(manager.swarmId)) return manager;
  }
  return null;
}
