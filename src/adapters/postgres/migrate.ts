import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';

/**
 * Older processes continue meanwhile, and requests queue behind a migration that waits for a table's lock. So a
 * migration waits less than their own limit of 3 s, at first only briefly, then starts over; finally longer than the
 * second after which PostgreSQL cancels an autovacuum in the way.
 */
const LOCK_WAIT_MS = { first: 100, longest: 1_500 } as const;
const BETWEEN_ATTEMPTS_MS = { first: 100, longest: 2_000 } as const;
/** Three minutes of successive long transactions. */
const ATTEMPTS = 60;
const DEADLOCK = '40P01';
const LOCK_TIMEOUT = '55P03';

/** The database has migrations unknown to this version. Nothing was changed. */
export class SchemaIsNewer extends Error {
  override name = 'SchemaIsNewer';

  constructor(unknown: string, newest: string) {
    super(
      `this database belongs to a newer Berth (it has migration ${unknown}; this version knows up to ${newest}): ` +
        'start that version, or restore a backup',
    );
  }
}

/**
 * Applies those of `directory/*.sql` that the database lacks, in the order of their names, all or nothing. Concurrent
 * callers, also in other processes, wait for each other (the migrator takes an advisory lock). Returns the names of
 * applied migrations. Retries a locked table for three minutes. Throws `SchemaIsNewer` for a newer database.
 */
export const migrate = async <T>(db: Kysely<T>, directory: string): Promise<readonly string[]> =>
  await db.connection().execute(async (connection) => {
    // Waiting for another process, or migrating, may exceed the connection's limits.
    await sql.raw('set lock_timeout = 0; set statement_timeout = 0').execute(connection);
    try {
      await refuseNewer(connection, directory);
      return await untilLocked(connection, directory);
    } finally {
      // A broken connection has no limits to restore, and its own error matters.
      await sql
        .raw('reset lock_timeout; reset statement_timeout')
        .execute(connection)
        .catch(() => {});
    }
  });

async function refuseNewer<T>(db: Kysely<T>, directory: string): Promise<void> {
  const known = Object.keys(await sqlFiles(directory).getMigrations()).toSorted();
  const { rows: tables } = await sql<{ found: string | null }>`
    select to_regclass('kysely_migration')::text as found`.execute(db);
  if (!tables[0]?.found) return;
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration where name <> all(${known}) order by name desc limit 1`.execute(db);
  if (rows[0] !== undefined) throw new SchemaIsNewer(rows[0].name, known.at(-1) ?? 'none');
}

async function untilLocked<T>(db: Kysely<T>, directory: string): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await toLatest(db, directory, backoff(LOCK_WAIT_MS, attempt));
    } catch (error) {
      if (attempt === ATTEMPTS || !isLockRefused(error)) throw error;
    }
    await sleep(backoff(BETWEEN_ATTEMPTS_MS, attempt));
  }
}

const backoff = ({ first, longest }: { first: number; longest: number }, attempt: number): number =>
  Math.min(first * 2 ** (attempt - 1), longest);

/** The driver's error, or the cause of our pool's. */
function isLockRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return code === DEADLOCK || code === LOCK_TIMEOUT || isLockRefused(error.cause);
}

async function toLatest<T>(db: Kysely<T>, directory: string, lockWaitMs: number): Promise<readonly string[]> {
  const provider = sqlFiles(directory, `set local lock_timeout = ${lockWaitMs};\n`);
  // Branches number their migrations before they meet: a database may have a later one first.
  const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

/** The migrations of a folder; `prelude` runs in their transaction. */
const sqlFiles = (directory: string, prelude = ''): MigrationProvider => ({
  async getMigrations() {
    const files = (await readdir(directory)).filter((file) => file.endsWith('.sql'));
    const entries = files.map(async (file): Promise<[string, Migration]> => {
      const text = prelude + (await readFile(path.join(directory, file), 'utf8'));
      return [path.basename(file, '.sql'), { up: async (db) => void (await sql.raw(text).execute(db)) }];
    });
    return Object.fromEntries(await Promise.all(entries));
  },
});
