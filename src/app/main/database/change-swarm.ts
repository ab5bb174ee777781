import { openDatabase, openPool } from '../../../adapters/postgres/connection/database.ts';
import { postgresInstallation } from '../../../adapters/postgres/installation-repository.ts';
import { presentFrom } from '../../../adapters/postgres/notification-listener.ts';
import type { Config } from '../config.ts';
import type { Outcome } from '../outcome.ts';
import { missingDatabase, withDatabaseInUse } from './command-database.ts';

const EX_USAGE = 64;

/** In place of an id: no Swarm, so that another kind of engine can be used. */
const NONE = 'none';

/**
 * Records another Swarm as the one of the installation, or none. The containers of the present one stay there, and no process
 * looks for them any more. Refuses while the service runs: its processes use the Swarm that they found at their start.
 */
export async function changeSwarm(config: Config, id: string | undefined): Promise<Outcome> {
  if (id === undefined || !/^[a-z0-9]+$/.test(id))
    return {
      code: EX_USAGE,
      says: "--id must be a Swarm's id: docker info --format '{{.Swarm.Cluster.ID}}'",
    };
  const missing = missingDatabase(config);
  if (missing !== null) return missing;
  return await withDatabaseInUse(config, async (url) => {
    const db = openDatabase(openPool({ url, poolSize: 1 }));
    try {
      if ((await presentFrom(db)).length > 0)
        return { code: 1, says: 'Berth is running on this database: stop all its processes first' };
      const installation = postgresInstallation(db);
      const before = await installation.swarmId();
      const now = id === NONE ? null : id;
      await installation.changeSwarm(now);
      return { code: 0, says: changed(before, now) };
    } finally {
      await db.destroy();
    }
  });
}

function changed(before: string | null, now: string | null): string {
  const next =
    now === null ? 'No Swarm is recorded any more.' : `Berth uses the Swarm ${now} from its next start.`;
  const left = before === null || before === now ? '' : ` The containers of the Swarm ${before} stay there.`;
  return `${next}${left}`;
}
