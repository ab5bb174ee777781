import { type Engine, missing, openEngine } from '../../../adapters/docker/private-engine/open-engine.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Config } from '../config.ts';
import { say } from '../process/console-progress.ts';
import { EngineNotChosen, requireNoSwarm, type SwarmRecord } from './swarm-record.ts';

/** Starting a private engine may install packages, so retries get rarer. */
const START_AGAIN_MS = { first: 30_000, most: 600_000 };

/** Whether a private engine may be started. */
type DockerMode = 'auto' | 'external';

type Search = {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly installation: Pick<SwarmRecord, 'swarmId'>;
  /** By default that of the setting `BERTH_ENGINE`. */
  readonly mode?: DockerMode;
};

/**
 * Finds or starts an engine, unless the containers are in a Swarm. Throws only by the signal, or when the database does
 * not answer. Mode `external` starts none.
 */
export async function findEngine(
  { dataDir, dockerHost, engine, enginePoolMb: poolMb, diskFloorMb: floorMb, lxcfs }: Config,
  { log, signal, installation, mode = engine === 'auto' ? 'auto' : 'external' }: Search,
): Promise<Engine> {
  try {
    await requireNoSwarm(installation);
  } catch (error) {
    // Before an engine is installed, started or recorded.
    if (error instanceof EngineNotChosen) return missing(error.message);
    throw error;
  }
  return await openEngine({ dataDir, mode, dockerHost, poolMb, floorMb, lxcfs, progress: say, log, signal });
}

/** The mode of a new search. */
export function searchModes({ engine }: Config): () => DockerMode {
  let waitMs = START_AGAIN_MS.first;
  let dueAtMs = performance.now() + waitMs;
  return () => {
    if (engine !== 'auto' || performance.now() < dueAtMs) return 'external';
    waitMs = Math.min(2 * waitMs, START_AGAIN_MS.most);
    dueAtMs = performance.now() + waitMs;
    return 'auto';
  };
}
