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
 * A database of its own with every migration applied, dropped when `t` ends: its address, or null when the test was
 * skipped because there is no PostgreSQL here.
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

/** Makes a database of that name with every migration applied, on the server of the run; answers its URL. */
export async function copyTemplate(server: string, name: string): Promise<string> {
  await run(server, `create database ${name} template template_berth`);
  const url = server.replace('/postgres?', `/${name}?`);
  // Copies of the template must not take each other's containers for their own.
  await run(url, 'update installation set id = gen_random_uuid()');
  return url;
}

/** Connections that are just being closed are waited for: force would be an error in their owner's hands. */
async function drop(url: string, name: string): Promise<void> {
  await run(url, `drop database ${name}`).catch(() =>
    run(url, `drop database if exists ${name} with (force)`),
  );
}

/** One statement by itself. */
export async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** What is asked of a database through a pool, from now on; it may be emptied. */
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

/** A new folder with a copy of the database that was made in `root`, whose server has stopped. */
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

/** The one value that a statement answers, as text. */
export async function ask(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' });
    return String(rows[0]?.[0]);
  } finally {
    await client.end();
  }
}

/** A process that starts the server of `root`, prints its number and address, and stops it when told to. */
export const starter = (t: Test, root: string, module = embedded) =>
  runModule(
    t,
    `import { startEmbedded } from ${moduleAt(module)};
     const server = await startEmbedded(${JSON.stringify(root)}, { durable: false });
     process.on('SIGTERM', () => server.stop().then(() => process.exit()));
     console.log(JSON.stringify({ pid: server.pid, url: server.url() }));
     setInterval(() => {}, 1000);`,
  );

/** The server of a starter, once it runs. */
export const serverOf = async (child: ReturnType<typeof starter>): Promise<{ pid: number; url: string }> =>
  JSON.parse(await child.line());

/** Address of the embedded database of a service that runs on a data folder. */
export const embeddedUrlOf = (dataDir: string): Promise<string> =>
  runningEmbeddedUrl(path.join(dataDir, 'postgres'));
