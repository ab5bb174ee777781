import { otherCluster } from '../../../adapters/engine-record.ts';
import { answeringManager, inOtherSwarms } from '../../../adapters/swarm/client/manager-address.ts';
import type { StaleNodes } from '../../../adapters/swarm/containers/stale-networks.ts';
import type { EngineSetUp } from './container-engine.ts';
import { ownSwarmIds, recordSwarm, requireSameSwarm } from './swarm-record.ts';

export type LastSwarm = {
  /** The address to try first. */
  readonly beginAt: string | null;
  /** Null before the first connection. */
  readonly swarmId: string | null;
  readonly staleNodes: StaleNodes;
};

/** Finds a manager that answers, in the installation's own Swarm. Records a first Swarm. */
export async function findManager({ config, installation, log }: EngineSetUp, last: LastSwarm) {
  const { dataDir, swarm: addresses } = config;
  const other = await otherCluster(dataDir, 'swarm');
  if (other !== null) throw new Error(other);
  // After the first connection only the same Swarm is accepted.
  if (last.swarmId !== null) await requireSameSwarm(installation, last.swarmId);
  const ownIds = last.swarmId === null ? await ownSwarmIds(installation, dataDir) : [last.swarmId];
  const { certPath, managers } = addresses;
  const { faults, ...found } = await answeringManager(managers, { certPath, ownIds, beginAt: last.beginAt });
  for (const { endpoint, error } of inOtherSwarms(faults))
    log.warn(`the manager at ${endpoint} is left out: ${String(error)}`);
  if (last.swarmId === null) await recordSwarm(installation, found.swarmId);
  return found;
}
