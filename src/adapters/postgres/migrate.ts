import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';

/** The database has migrations that this version does not know. Nothing was changed. */
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
 * Brings the schema to the newest of `directory/*.sql`, ordered by file name, forward only, all or nothing. Callers
 * that come at once, also from other processes, wait for each other (the migrator holds an advisory lock). Returns the
 * names of those that it applied. Throws `SchemaIsNewer` for a database that is ahead of `directory`.
 */
export async function migrate<T>(db: Kysely<T>, directory: string): Promise<readonly string[]> {
  return await db.connection().execute(async (connection) => {
    // Waiting for another process, or a migration itself, may take longer than the connection's own limits allow.
    await sql.raw('set lock_timeout = 0; set statement_timeout = 0').execute(connection);
    try {
      await refuseNewer(connection, directory);
      return await toLatest(connection, directory);
    } finally {
      // A connection that broke has no limits to restore, and its own error is the one to report.
      await sql
        .raw('reset lock_timeout; reset statement_timeout')
        .execute(connection)
        .catch(() => {});
    }
  });
}

async function refuseNewer<T>(db: Kysely<T>, directory: string): Promise<void> {
  const known = Object.keys(await sqlFiles(directory).getMigrations()).toSorted();
  const { rows: tables } = await sql<{ found: string | null }>`
    select to_regclass('kysely_migration')::text as found`.execute(db);
  if (!tables[0]?.found) return;
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration where name <> all(${known}) order by name desc limit 1`.execute(db);
  if (rows[0] !== undefined) throw new SchemaIsNewer(rows[0].name, known.at(-1) ?? 'none');
}

async function toLatest<T>(db: Kysely<T>, directory: string): Promise<readonly string[]> {
  const { error, results } = await new Migrator({ db, provider: sqlFiles(directory) }).migrateToLatest();
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

const sqlFiles = (directory: string): MigrationProvider => ({
  async getMigrations() {
    const files = (await readdir(directory)).filter((file) => file.endsWith('.sql'));
    const entries = files.map(async (file): Promise<[string, Migration]> => {
      const text = await readFile(path.join(directory, file), 'utf8');
      return [path.basename(file, '.sql'), { up: async (db) => void (await sql.raw(text).execute(db)) }];
    });
    return Object.fromEntries(await Promise.all(entries));
  },
});
