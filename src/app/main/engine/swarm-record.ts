import { layoutOf } from '../../../adapters/docker/private-engine/private-engine-paths.ts';
import { idsOf, readRecords } from '../../../adapters/engine-record.ts';
import { OtherSwarm } from '../../../adapters/swarm/client/manager.ts';
import type { InstallationRepository } from '../../../ports/installation-repository.ts';

/** The Swarm of an installation, the same for all its processes. */
export type SwarmRecord = Pick<InstallationRepository, 'swarmId' | 'recordSwarm'>;

/** Throws when the containers are in a Swarm: no other engine has them. */
export async function requireNoSwarm(installation: SwarmRecord): Promise<void> {
  const id = await installation.swarmId();
  if (id !== null)
    throw new Error(
      `the containers are in the Swarm ${id}: set BERTH_ENGINE=swarm, with its other settings, or give them up by: berth use-swarm --id none`,
    );
}

/**
 * The ids of the Swarms that may have the containers. Older versions recorded them in the data folder alone. Empty before
 * the first use: any Swarm will do.
 */
export async function ownSwarmIds(installation: SwarmRecord, dataDir: string): Promise<readonly string[]> {
  const id = await installation.swarmId();
  return id === null ? idsOf(await readRecords(layoutOf(dataDir)), 'swarm') : [id];
}

/** Records a Swarm that is used now. Throws `OtherSwarm` when another process was the first, with another Swarm. */
export async function recordSwarm(installation: SwarmRecord, swarmId: string): Promise<void> {
  const own = await installation.recordSwarm(swarmId);
  if (own !== swarmId)
    throw new OtherSwarm(`the manager is in the Swarm ${swarmId}, but the containers are in ${own}`);
}
