import { openDatabase, openPool } from '../../../adapters/postgres/connection/database.ts';
import { canRecordSwarm, postgresInstallation } from '../../../adapters/postgres/installation-repository.ts';
import { whileNoneRuns } from '../../../adapters/postgres/notification-listener.ts';
import type { Db } from '../../../adapters/postgres/schema/database-schema.ts';
import type { Config } from '../config.ts';
import type { Outcome } from '../outcome.ts';
import { missingDatabase, withDatabaseInUse } from './command-database.ts';

const EX_USAGE = 64;

/** In place of an id: no Swarm, so that another kind of engine can be used. */
const NONE = 'none';

/**
 * Changes or clears the installation's Swarm. Containers of the old one stay there, and Berth no longer manages them.
 * Refuses while the service runs: its processes use the Swarm that they found at their start.
 */
export async function changeSwarm(config: Config, id: string | undefined): Promise<Outcome> {
  if (id === undefined || !(id === NONE || /^[a-z0-9]{25}$/.test(id)))
    return {
      code: EX_USAGE,
      says: `--id must be ${NONE}, or a Swarm's id, which has 25 characters: docker info --format '{{.Swarm.Cluster.ID}}'`,
    };
  const missing = missingDatabase(config);
  if (missing !== null) return missing;
  const next = id === NONE ? null : id;
  return await withDatabaseInUse(config, async (url) => {
    const db = openDatabase(openPool({ url, poolSize: 1 }));
    try {
      if (!(await canRecordSwarm(db)))
        return { code: 1, says: 'The database has an older schema: run `berth migrate` first' };
      return await changeIn(db, next);
    } finally {
      await db.destroy();
    }
  });
}

async function changeIn(db: Db, next: string | null): Promise<Outcome> {
  let before: string | null = null;
  const hasChanged = await whileNoneRuns(db, async (tx) => {
    const installation = postgresInstallation(tx);
    before = await installation.swarmId();
    await installation.changeSwarm(next);
  });
  return hasChanged
    ? { code: 0, says: changed(before, next) }
    : { code: 1, says: 'Berth is running on this database: stop all its processes first' };
}

function changed(before: string | null, next: string | null): string {
  const uses =
    next === null
      ? 'Berth uses no Swarm from its next start. For another engine, change BERTH_ENGINE and delete engine/engine.json in the data folder of each process.'
      : `Berth uses the Swarm ${next} from its next start.`;
  const left = before === null || before === next ? '' : ` The containers of the Swarm ${before} stay there.`;
  return `${uses}${left}`;
}
