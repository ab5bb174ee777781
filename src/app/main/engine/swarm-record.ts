import { layoutOf } from '../../../adapters/docker/private-engine/private-engine-paths.ts';
import { idsOf, readRecords } from '../../../adapters/engine-record.ts';
import { OtherSwarm } from '../../../adapters/swarm/client/manager.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { InstallationRepository } from '../../../ports/installation-repository.ts';

/** The Swarm of an installation, the same for all its processes. */
export type SwarmRecord = Pick<
  InstallationRepository,
  'swarmId' | 'hasLeftSwarms' | 'hasContainers' | 'recordSwarm'
>;

/** Berth uses no engine until an administrator has said where the containers are. `mend`: how to say it. */
export class EngineNotChosen extends RuntimeUnavailable {
  override name = 'EngineNotChosen';
  readonly mend: string;

  constructor(reason: string, mend: string) {
    super(`${reason}: ${mend}`);
    this.mend = mend;
  }
}

/** Throws when the containers are in a Swarm: no other engine has them. */
export async function requireNoSwarm(installation: Pick<SwarmRecord, 'swarmId'>): Promise<void> {
  const id = await installation.swarmId();
  if (id !== null)
    throw new EngineNotChosen(
      `the containers are in the Swarm ${id}`,
      'set BERTH_ENGINE=swarm and its settings, or run `berth use-swarm --id none` to give these containers up; then also delete engine/engine.json in the data folder',
    );
}

/**
 * The ids of the Swarms that may have the containers. Older versions recorded them in the data folder alone. Empty before
 * the first use: any Swarm will do. Throws when there are containers and no record of a Swarm.
 */
export async function ownSwarmIds(installation: SwarmRecord, dataDir: string): Promise<readonly string[]> {
  const id = await installation.swarmId();
  if (id !== null) return [id];
  if (await installation.hasLeftSwarms())
    throw new EngineNotChosen(
      'this installation uses no Swarm since `berth use-swarm --id none`',
      'unset BERTH_ENGINE, or stop Berth and run `berth use-swarm --id <Swarm id>`',
    );
  const records = await readRecords(layoutOf(dataDir));
  const hasRecord = records.some(({ kind }) => kind === 'swarm');
  if (!hasRecord && (await installation.hasContainers()))
    throw new EngineNotChosen(
      'this installation has containers, but no Swarm is recorded',
      'unset BERTH_ENGINE, or if they are in a Swarm, stop Berth and run `berth use-swarm --id <Swarm id>`',
    );
  return idsOf(records, 'swarm');
}

/** Records a Swarm that is used now. Throws `OtherSwarm` when another process was the first, with another Swarm. */
export async function recordSwarm(installation: SwarmRecord, swarmId: string): Promise<void> {
  const own = await installation.recordSwarm(swarmId);
  if (own !== swarmId)
    throw new OtherSwarm(
      own === null
        ? 'this installation uses no Swarm any more'
        : `the manager is in the Swarm ${swarmId}, but the containers are in ${own}`,
    );
}

/** Whether the database no longer records the Swarm in use. False while the database does not answer. */
export const isOtherSwarmRecorded = async (
  installation: Pick<SwarmRecord, 'swarmId'>,
  swarmId: string,
): Promise<boolean> => (await installation.swarmId().catch(() => swarmId)) !== swarmId;

/** Throws when the database no longer records the Swarm in use. */
export async function requireSameSwarm(
  installation: Pick<SwarmRecord, 'swarmId'>,
  swarmId: string,
): Promise<void> {
  if (await isOtherSwarmRecorded(installation, swarmId))
    throw new EngineNotChosen(`the Swarm ${swarmId} is no longer that of this installation`, 'restart Berth');
}
