import { execFileSync } from 'node:child_process';
import path from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { runningEmbeddedUrl, startEmbedded } from '../../../src/adapters/postgres/embedded/index.ts';
import { moduleAt, runModule } from '../child.ts';
import { aFolder } from '../folder.ts';

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
