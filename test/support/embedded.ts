import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Test } from 'tap';
import { runningEmbeddedUrl, startEmbedded } from '../../src/adapters/postgres/embedded.ts';
import { moduleAt, runModule } from './child.ts';

const embedded = path.resolve('src/adapters/postgres/embedded.ts');

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
     console.log(JSON.stringify({ pid: server.pid, url: server.url() }));
     process.on('SIGTERM', () => server.stop().then(() => process.exit()));
     setInterval(() => {}, 1000);`,
  );

/** The server of a starter, once it runs. */
export const serverOf = async (child: ReturnType<typeof starter>): Promise<{ pid: number; url: string }> =>
  JSON.parse(await child.line());

/** Whether it has ended; what is left of a process until its parent looks does not count. */
export async function isGone(pid: number): Promise<boolean> {
  const ended = () =>
    !existsSync(`/proc/${pid}`) || /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  for (let tries = 0; tries < 20 && !ended(); tries++) await sleep(10);
  return ended();
}

/** Address of the embedded database of a service that runs on a data folder. */
export const embeddedUrlOf = (dataDir: string): Promise<string> =>
  runningEmbeddedUrl(path.join(dataDir, 'postgres'));
