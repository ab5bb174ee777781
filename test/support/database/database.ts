import { execFileSync } from 'node:child_process';
import path from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { runningEmbeddedUrl, startEmbedded } from '../../../src/adapters/postgres/embedded/index.ts';
import { moduleAt, runModule } from '../child.ts';
import { aFolder } from '../folder.ts';
import { needs } from '../run/infra.ts';

let made = 0;

/**
 * A new database with every migration applied, dropped when `t` ends: its address, or null when the test was skipped
 * without PostgreSQL.
 */
export async function freshDatabase(t: Test): Promise<string | null> {
  const postgres = await needs(t, 'postgres');
  if (postgres === null) return null;
  made += 1;
  const name = `t_${process.pid}_${made}`;
  const url = await copyTemplate(postgres.url, name);
  t.teardown(() => drop(postgres.url, name));
  return url;
}

/** Makes a database of that name with every migration applied, on the run's server; returns its URL. */
export async function copyTemplate(server: string, name: string): Promise<string> {
  await run(server, `create database ${name} template template_berth`);
  const url = server.replace('/postgres?', `/${name}?`);
  // Copies of the template must not share an installation id, or they would adopt each other's containers.
  await run(url, 'update installation set id = gen_random_uuid()');
  return url;
}

/** Waits for closing connections: forcing them would be an error for their owner. */
async function drop(url: string, name: string): Promise<void> {
  await run(url, `drop database ${name}`).catch(() =>
    run(url, `drop database if exists ${name} with (force)`),
  );
}

/** Runs one statement. */
export async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The statements sent through a pool from now on; the list may be emptied. */
export function statementsOf(pool: pg.Pool): string[] {
  const statements: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const noted = (...given: unknown[]): unknown => {
      const [first] = given;
      statements.push(
        typeof first === 'string' ? first : String((first as { text?: string } | undefined)?.text),
      );
      return query(...given);
    };
    Object.assign(client, { query: noted });
  });
  return statements;
}

const embedded = path.resolve('src/adapters/postgres/embedded/index.ts');

/** A new folder with a copy of the database in `root`, whose server has stopped. */
export function aCopy(t: Test, root: string): string {
  const folder = aFolder(t);
  execFileSync('cp', ['--archive', path.join(root, 'pgdata'), folder]);
  return folder;
}

/** The embedded server of `root`, which stops with `t`. */
export async function start(t: Test, root: string) {
  const server = await startEmbedded(root, { durable: false });
  t.teardown(() => server.stop());
  return server;
}

/** A statement's only value, as text. */
export async function queryText(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' });
    return String(rows[0]?.[0]);
  } finally {
    await client.end();
  }
}

/** A process that starts the server of `root`, prints its number and address, and stops it on request. */
export const starter = (t: Test, root: string, module = embedded) =>
  runModule(
    t,
    `import { startEmbedded } from ${moduleAt(module)};
     const server = await startEmbedded(${JSON.stringify(root)}, { durable: false });
     process.on('SIGTERM', () => server.stop().then(() => process.exit()));
     console.log(JSON.stringify({ pid: server.pid, url: server.url() }));
     setInterval(() => {}, 1000);`,
  );

/** A starter's server, once it runs. */
export const serverOf = async (child: ReturnType<typeof starter>): Promise<{ pid: number; url: string }> =>
  JSON.parse(await child.line());

/** The address of a running service's embedded database. */
export const embeddedUrlOf = (dataDir: string): Promise<string> =>
  runningEmbeddedUrl(path.join(dataDir, 'postgres'));
