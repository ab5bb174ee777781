import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** Milliseconds of processor time so far: the process's own, and the kernel's in its name. */
export type Cpu = { readonly userMs: number; readonly systemMs: number };

/** A server in its own process, so that it and its load do not share an event loop. */
export type Server = {
  readonly address: string;
  readonly setupCode: string;
  readonly cpu: () => Promise<Cpu>;
  /** The sum of both. */
  readonly cpuMs: () => Promise<number>;
  /** Its answer to a message. */
  readonly ask: <T>(question: string | object) => Promise<T>;
  /** Makes it announce something to all subscribers; returns the start, in ms since 1970. */
  readonly announce: (ownerId: string) => Promise<number>;
  readonly stop: () => Promise<void>;
};

/** Starts `file` of this folder, with `args`, and waits until it listens. */
export async function startServer(
  file: string,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<Server> {
  const flags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [];
  const execArgv = [...nodeFlags, ...flags];
  const child = fork(path.join(import.meta.dirname, file), args, { execArgv });
  const ended = once(child, 'exit');
  const [ready] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`${file} ended with ${code} before it listened`))),
  ])) as [{ address: string; setupCode?: string }];
  const cpu = () => ask<Cpu>(child, 'cpu');
  return {
    address: ready.address,
    setupCode: ready.setupCode ?? '',
    ask: (question) => ask(child, question),
    cpu,
    async cpuMs() {
      const { userMs, systemMs } = await cpu();
      return userMs + systemMs;
    },
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

/** In the server's process: announces on request, and returns the start. */
export function onAnnounce(work: (ownerId: string) => Promise<number> | number): void {
  process.on('message', async (message: { ownerId?: string }) => {
    if (message.ownerId !== undefined) process.send?.({ atMs: await work(message.ownerId) });
  });
}

/** Milliseconds since 1970, more precise than Date. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

/** In the server's process: reports its address, answers `cpu`, and closes when the bench has gone. */
export function announce(
  ready: { address: string; setupCode?: string },
  close: () => Promise<unknown>,
): void {
  process.on('message', (message) => {
    if (message !== 'cpu') return;
    const { user, system } = process.cpuUsage();
    process.send?.({ userMs: user / 1000, systemMs: system / 1000 } satisfies Cpu);
  });
  process.on('SIGINT', () => undefined);
  process.once('disconnect', () => void close().finally(() => process.exit()));
  process.send?.(ready);
}
