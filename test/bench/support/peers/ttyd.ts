/** The web terminal that Berth is compared with, in a process of its own before the engine's own client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../support/listen.ts';
import { listens } from '../ports.ts';

const START_MS = 10_000;
const POLL_MS = 50;

export type WebServer = { readonly port: number; readonly pid: number; stop(): Promise<void> };

/** Whether a program is in the `PATH`. */
export const inPath = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, program)));

/** The container comes with each connection: `--url-arg`. */
export async function startTtyd(endpoint: string): Promise<WebServer> {
  const port = await freePort();
  const options = [
    '--port',
    `${port}`,
    '--interface',
    '127.0.0.1',
    '--writable',
    '--url-arg',
    '--debug',
    '1',
  ];
  return await listening(port, 'ttyd', [...options, 'docker', '-H', endpoint, 'exec', '-it']);
}

async function listening(port: number, file: string, args: readonly string[]): Promise<WebServer> {
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  const stop = async (): Promise<void> => await stopped(child);
  try {
    await Promise.race([listensSoon(port), endsEarly(child)]);
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message}: ${errors.trim()}`);
  }
  return { port, pid: child.pid ?? 0, stop };
}

async function listensSoon(port: number): Promise<void> {
  for (const end = performance.now() + START_MS; !(await listens(port)); await delay(POLL_MS))
    if (performance.now() > end) throw new Error('it does not listen');
}

async function endsEarly(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`it ended with ${code}`);
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await ended.finally(() => clearTimeout(late));
}
