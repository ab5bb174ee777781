import { forgetHint } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import { areOther, idsOf, nameOfEngine, type RecordedElsewhere } from '../../../adapters/engine-record.ts';
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
 * The Swarms that an installation uses, each by a manager of the settings or of its record. A Swarm that it has left is
 * one of them only by its name. If no Swarm is recorded, returns the configured one: its nodes may still have old
 * volumes.
 */
export async function usedSwarms(
  config: Config,
  { kept, forgotten, oldSwarms }: Records,
  instance: Instance,
): Promise<UsedEngines> {
  const recorded = kept.filter((each): each is RecordedElsewhere => each.kind === 'swarm');
  const wereForgotten = forgotten.filter(({ kind }) => kind === 'swarm');
  const old = recorded.filter((each) => isOld(each, instance) && !oldSwarms.includes(nameOfEngine(each)));
  const used = recorded.filter((each) => !old.includes(each));
  const own = idsOf(wereForgotten, 'swarm').includes(instance.swarmId ?? '') ? null : instance.swarmId;
  const found = new Map<string, AnsweringManager>();
  const skippedMessages = old.map(oldMessage);
  for (const record of used) {
    const manager = await managerOf(config, record, own);
    found.set(manager.swarmId, manager);
  }
  const lacksOne = own === null ? used.length === 0 && !instance.hasLeftSwarms : !found.has(own);
  if (lacksOne) {
    const { manager, faults } =
      own === null
        ? await unrecordedManager(config, [...wereForgotten, ...old])
        : { manager: await ownManager(config, own), faults: [] };
    if (manager !== null) found.set(manager.swarmId, manager);
    skippedMessages.push(...faults.map(skippedMessage));
  }
  const leftOut = await leftOutManagers(config, [...found.values()], [...wereForgotten, ...old]);
  skippedMessages.push(...leftOut.map(leftOutMessage));
  const engines = await Promise.all([...found.values()].map((each) => usedSwarm(each, config, instance)));
  return { engines, skippedMessages };
}

/** A record without an id may be of any Swarm. */
const isOld = ({ id }: RecordedElsewhere, { swarmId, hasLeftSwarms }: Instance): boolean =>
  hasLeftSwarms || areOther(id, swarmId);

const oldMessage = (record: RecordedElsewhere): string =>
  `Nothing is removed from the Swarm ${nameOfEngine(record)} at ${record.endpoint}, which this installation has left: to remove its containers and volumes there, too, repeat with --old-swarm ${nameOfEngine(record)}.`;

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
  { docker, endpoint, swarmId }: AnsweringManager,
  { swarm }: Config,
  { id, defaultImage }: Instance,
): Promise<UsedEngine> {
  const { count, remove } = swarmLeftovers(docker, swarm, id, defaultImage);
  const leftovers = await count();
  return {
    name: `the Swarm ${swarmId} at ${endpoint}, on all nodes`,
    leftovers,
    stays: leftovers.stays,
    remove,
  };
}

async function managerOf(
  { swarm, dockerHost }: Config,
  record: RecordedElsewhere,
  own: string | null,
): Promise<AnsweringManager> {
  const managers = [...new Set([...swarm.managers, record.endpoint])];
  const ownIds = [record.id ?? own].filter((id) => id !== null);
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

/** A manager of the Swarm in the database, which this data folder does not record. */
async function ownManager({ swarm: { managers, certPath } }: Config, id: string): Promise<AnsweringManager> {
  try {
    return await answeringManager(managers, { certPath, ownIds: [id] });
  } catch (cause) {
    if (!(cause instanceof NoManager)) throw cause;
    throw new Error(
      `${cause.message}: start a manager of the Swarm ${id}, or if it is gone for good, run berth use-swarm --id none`,
      { cause },
    );
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
