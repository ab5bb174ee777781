/** The web terminals that Berth is compared with, each in its own process before the engine's own client. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemEnvironment } from '../../../../scripts/lib/node.mjs';
import { freePort } from '../../../support/listen.ts';
import { listens } from '../ports.ts';
import { clientCommand } from './lines.ts';
import { NEXT_BOX } from './web-lines.ts';

const run = promisify(execFile);
const WETTY = 'wetty@3.2.0';
const INSTALL_MS = 300_000;
const START_MS = 10_000;
const POLL_MS = 50;
/** Below the checkout, out of its sources. */
const FOLDER = path.resolve(import.meta.dirname, '../../../../.tap/peers');

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
  return await listening(port, 'ttyd', [...options, ...clientCommand(endpoint)]);
}

/** Its folder is where its client is. The container for the next connection is in a file, read by the shell alone. */
export async function startWetty(endpoint: string): Promise<WebServer & { readonly folder: string }> {
  // Anyone else than root gets SSH.
  if (process.getuid?.() !== 0) throw new Error('it runs a command for root only');
  await installWetty();
  const script = path.join(FOLDER, 'enter.sh');
  const client = clientCommand(endpoint).join(' ');
  writeFileSync(script, `read -r box < ${FOLDER}/${NEXT_BOX}\nexec ${client} "$box" /bin/bash -l\n`);
  const port = await freePort();
  const main = path.join(FOLDER, 'node_modules/wetty/build/main.js');
  const options = ['--port', `${port}`, '--host', '127.0.0.1', '--base', '/wetty', '--log-level', 'error'];
  const server = await listening(port, process.execPath, [main, ...options, '--command', `sh ${script}`]);
  return { ...server, folder: FOLDER };
}

async function installWetty(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  if (existsSync(path.join(FOLDER, 'node_modules/wetty/build/main.js'))) return;
  const args = ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', WETTY];
  await run('npm', args, { env: systemEnvironment(), timeout: INSTALL_MS, cwd: FOLDER });
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
