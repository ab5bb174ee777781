import path from 'node:path';
import { lockDataDirOrNull } from '../../../adapters/filesystem/data-dir-lock.ts';
import { hasEmbedded, runningEmbeddedUrl, startEmbedded } from '../../../adapters/postgres/embedded/index.ts';
import type { Config } from '../config.ts';
import type { Outcome } from '../outcome.ts';

const EX_CONFIG = 78;

/** The refusal of a command that would otherwise make a new, empty database; null where there is one. */
export function missingDatabase({ databaseUrl, dataDir }: Config): Outcome | null {
  if (databaseUrl !== null || hasEmbedded(path.join(dataDir, 'postgres'))) return null;
  return {
    code: EX_CONFIG,
    says: `${dataDir} has no database: set BERTH_DATA_DIR or DATABASE_URL to that of the service`,
  };
}

/**
 * Runs with the service's database: that of DATABASE_URL, the running service's embedded one, or an embedded one
 * started for this.
 */
export async function withDatabaseInUse<T>(
  { databaseUrl, dataDir }: Config,
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (databaseUrl !== null) return await work(databaseUrl);
  const root = path.join(dataDir, 'postgres');
  const lock = lockDataDirOrNull(dataDir);
  if (lock === null) return await work(await runningEmbeddedUrl(root));
  try {
    const server = await startEmbedded(root);
    return await work(server.url()).finally(() => server.stop());
  } finally {
    lock.release();
  }
}
