import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { installPackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import { startEmbedded } from '../../../../src/adapters/postgres/embedded/index.ts';
import { migrate } from '../../../../src/adapters/postgres/migrate.ts';
import type { Part } from './part.ts';

const TEMPLATE = 'template_berth';

/**
 * A private server, without durability, whose template database has every migration. Adopts a killed keeper's server in
 * the folder, with its template.
 */
export async function startPostgres(folder: string): Promise<Part<'postgres'>> {
  const server = await startEmbedded(path.join(folder, 'postgres'), { durable: false });
  try {
    await withDatabase(server.url(), async (db) => {
      const { rows } = await sql`select from pg_database where datname = ${TEMPLATE}`.execute(db);
      if (rows.length === 0) await sql.raw(`create database ${TEMPLATE}`).execute(db);
    });
    await withDatabase(server.url(TEMPLATE), async (db) => {
      await migrate(db, path.resolve('db/migrations'));
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { value: { url: server.url() }, stop: server.stop };
}

/** Works with a database. Its server may stop as soon as this resolves. */
export async function withDatabase(url: string, work: (db: Kysely<unknown>) => Promise<void>): Promise<void> {
  const pool = new pg.Pool({ connectionString: url });
  // An ended pool does not wait for its sockets, and reports what a server that stops meanwhile sends to them.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

const ROOT = '/usr/lib/postgresql';
const log = { info: console.log, warn: console.warn, error: console.error };

/** The newest PostgreSQL programs of the distribution, installed if possible as root and without starting a service. */
export async function findSystemPostgres(
  _folder: string,
  progress: (line: string) => void,
): Promise<Part<'systemPostgres'>> {
  const startsServices = existsSync('/run/systemd/system');
  if (newest() === null && process.getuid?.() === 0 && !startsServices)
    await installPackages(['postgresql'], { progress, log });
  const programs = newest();
  if (programs === null) throw new Error('apt-get install postgresql');
  return { value: { programs }, stop: async () => {} };
}

function newest(): string | null {
  const majors = existsSync(ROOT) ? readdirSync(ROOT).map(Number) : [];
  const [major] = majors.sort((a, b) => b - a);
  return major === undefined ? null : path.join(ROOT, `${major}`, 'bin');
}
