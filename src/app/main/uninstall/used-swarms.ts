import { forgetHint } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import { idsOf, type RecordedElsewhere } from '../../../adapters/engine-record.ts';
import { OtherSwarm } from '../../../adapters/swarm/client/manager.ts';
import {
  type AnsweringManager,
  answeringManager,
  inOtherSwarms,
  type ManagerFault,
  NoManager,
  orDefaultSocket,
} from '../../../adapters/swarm/client/manager-address.ts';
import { swarmLeftovers } from '../../../adapters/swarm/uninstall/swarm-leftovers.ts';
import type { Config } from '../config.ts';
import { type Instance, otherAt, type Records, type UsedEngine, type UsedEngines } from './used-engine.ts';

/**
 * The Swarms that an installation has used, each by a manager of the settings or of its record. If all recorded
 * Swarms are forgotten, or none is recorded, returns the configured Swarm: its nodes may still have old volumes.
 */
export async function usedSwarms(
  config: Config,
  { kept, forgotten }: Records,
  instance: Instance,
): Promise<UsedEngines> {
  const recorded = kept.filter((each): each is RecordedElsewhere => each.kind === 'swarm');
  const wereForgotten = forgotten.filter(({ kind }) => kind === 'swarm');
  const found = new Map<string, AnsweringManager>();
  const skippedMessages: string[] = [];
  for (const record of recorded) {
    const manager = await managerOf(config, record);
    found.set(manager.swarmId, manager);
  }
  if (recorded.length === 0) {
    const { manager, faults } = await unrecordedManager(config, wereForgotten);
    if (manager !== null) found.set(manager.swarmId, manager);
    skippedMessages.push(...faults.map(skippedMessage));
  }
  const leftOut = await leftOutManagers(config, [...found.values()], wereForgotten);
  skippedMessages.push(...leftOut.map(leftOutMessage));
  const engines = await Promise.all([...found.values()].map((each) => usedSwarm(each, config, instance)));
  return { engines, skippedMessages };
}

const skippedMessage = ({ endpoint, error }: ManagerFault): string =>
  `Nothing is removed from the Swarm at ${endpoint}, because it cannot be used: ${String(error)}.`;

const leftOutMessage = (fault: ManagerFault): string =>
  fault.error instanceof OtherSwarm
    ? skippedMessage(fault)
    : `The manager at ${fault.endpoint} cannot be used: ${String(fault.error)}. If it is in another Swarm, nothing is removed there.`;

/** The addresses of the settings at which no manager of a found or forgotten Swarm answers. */
async function leftOutManagers(
  { swarm: { managers, certPath } }: Config,
  found: readonly AnsweringManager[],
  forgotten: readonly RecordedElsewhere[],
): Promise<readonly ManagerFault[]> {
  if (found.length === 0) return [];
  const ownIds = [...found.map(({ swarmId }) => swarmId), ...idsOf(forgotten, 'swarm')];
  const usedAt = [...found, ...forgotten].map(({ endpoint }) => endpoint);
  const asked = managers
    .filter((endpoint) => !usedAt.includes(endpoint))
    .map((endpoint) => answeringManager([endpoint], { certPath, ownIds }).then(() => [], faultsOf));
  return (await Promise.all(asked)).flat();
}

/** Throws any other error. */
function faultsOf(error: unknown): readonly ManagerFault[] {
  if (error instanceof NoManager) return error.faults;
  throw error;
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

async function managerOf(
  { swarm, dockerHost }: Config,
  record: RecordedElsewhere,
): Promise<AnsweringManager> {
  const managers = [...new Set([...swarm.managers, record.endpoint])];
  const ownIds = idsOf([record], 'swarm');
  try {
    return await answeringManager(managers, { certPath: swarm.certPath, ownIds });
  } catch (error) {
    if (!(error instanceof NoManager)) throw error;
    const others = inOtherSwarms(error.faults);
    const [other] = others;
    // One that is silent may have the containers.
    const areAllOther = others.length === error.faults.length;
    const setting = swarm.managers.length > 0 && dockerHost === null ? 'BERTH_SWARM_MANAGERS' : 'DOCKER_HOST';
    const message =
      areAllOther && other !== undefined
        ? otherAt(other.endpoint, record, setting)
        : `${error.message}: start a manager of it, or ${forgetHint(record)}`;
    throw new Error(message, { cause: error });
  }
}

type Unrecorded = { readonly manager: AnsweringManager | null; readonly faults: readonly ManagerFault[] };

/**
 * The first usable manager of the settings that is in none of the forgotten Swarms. If no manager is
 * usable: returns the faults when a Swarm was forgotten, else throws.
 */
async function unrecordedManager(
  { swarm: { managers, certPath } }: Config,
  forgotten: readonly RecordedElsewhere[],
): Promise<Unrecorded> {
  if (forgotten.length === 0)
    return { manager: await answeringManager(managers, { certPath, ownIds: [] }), faults: [] };
  const faults: ManagerFault[] = [];
  const goneIds = idsOf(forgotten, 'swarm');
  const goneAt = forgotten.filter(({ id }) => id === undefined).map(({ endpoint }) => endpoint);
  for (const endpoint of orDefaultSocket(managers).filter((each) => !goneAt.includes(each))) {
    try {
      const manager = await answeringManager([endpoint], { certPath, ownIds: [] });
      if (!goneIds.includes(manager.swarmId)) return { manager, faults: [] };
    } catch (error) {
      faults.push(...faultsOf(error));
    }
  }
  return { manager: null, faults };
}
