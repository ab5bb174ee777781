import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A server in a process of its own, so that it and what loads it do not share an event loop. */
export type Server = {
  readonly address: string;
  readonly setupCode: string;
  /** Milliseconds of processor time that it has used so far. */
  readonly cpuMs: () => Promise<number>;
  /** Has it announce something to all who listen; when it began to, in ms since 1970. */
  readonly announce: (ownerId: string) => Promise<number>;
  readonly stop: () => Promise<void>;
};

/** Starts `file` of this folder, with `args`, and waits until it listens. */
export async function startServer(file: string, args: readonly string[]): Promise<Server> {
  const flags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [];
  const child = fork(path.join(import.meta.dirname, file), args, { execArgv: flags });
  const ended = once(child, 'exit');
  const [ready] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`${file} ended with ${code} before it listened`))),
  ])) as [{ address: string; setupCode?: string }];
  return {
    address: ready.address,
    setupCode: ready.setupCode ?? '',
    cpuMs: async () => (await ask<{ cpuMs: number }>(child, 'cpu')).cpuMs,
    announce: async (ownerId) => (await ask<{ atMs: number }>(child, { ownerId })).atMs,
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

async function ask<T>(child: ChildProcess, question: string | object): Promise<T> {
  const answer = once(child, 'message');
  child.send(question);
  const [message] = (await answer) as [T];
  return message;
}

/** In the server's process: does what is to be announced, which answers when it began. */
export function onAnnounce(work: (ownerId: string) => Promise<number> | number): void {
  process.on('message', async (message: { ownerId?: string }) => {
    if (message.ownerId !== undefined) process.send?.({ atMs: await work(message.ownerId) });
  });
}

/** Milliseconds since 1970, finer than Date has them. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

/** In the server's process: says where it listens, answers `cpuMs`, and closes when the bench has gone. */
export function announce(
  ready: { address: string; setupCode?: string },
  close: () => Promise<unknown>,
): void {
  process.on('message', (message) => {
    if (message !== 'cpu') return;
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1000 });
  });
  process.on('SIGINT', () => undefined);
  process.once('disconnect', () => void close().finally(() => process.exit()));
  process.send?.(ready);
}
