import { type ChildProcess, spawn } from 'node:child_process';
import { createClient } from '@redis/client';
import { outsideOfTap } from '../child.ts';
import { freePort } from '../listen.ts';
import { waitFor } from '../patience.ts';

export type RedisServer = {
  /** Without a user: the default one needs no password. */
  readonly url: string;
  readonly pid: number;
  /** Its answer to a command of an administrator's. */
  command(...words: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
};

/** A Redis of its own on loopback, which stores nothing on disk. */
export async function startRedis(program: string, folder: string): Promise<RedisServer> {
  const port = await freePort();
  const settings = { port: `${port}`, bind: '127.0.0.1', save: '', dir: folder, logfile: 'redis.log' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(...outsideOfTap(program, args), { stdio: 'ignore' });
  const url = `redis://127.0.0.1:${port}`;
  const admin = createClient({ url, socket: { reconnectStrategy: 5 } });
  // It listens soon.
  admin.on('error', () => undefined);
  await admin.connect();
  return {
    url,
    pid: child.pid ?? 0,
    command: (...words) => admin.sendCommand([...words]),
    async stop() {
      admin.destroy();
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await waitFor(() => child.exitCode !== null || child.signalCode !== null, { what: 'Redis ends' });
}
