import path from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { startEmbedded } from '../../../../src/adapters/postgres/embedded/index.ts';
import { migrate } from '../../../../src/adapters/postgres/migrate.ts';
import type { Part } from './part.ts';

export const TEMPLATE = 'template_berth';

/**
 * A private server, without durability, whose template database has every migration. One that a killed keeper left in
 * the folder is taken over, with its template.
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

async function withDatabase(url: string, work: (db: Kysely<unknown>) => Promise<void>): Promise<void> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
  });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}
