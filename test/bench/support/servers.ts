import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** Milliseconds of processor time so far: the process's own, and the kernel's in its name. */
export type Cpu = { readonly userMs: number; readonly systemMs: number };

/** A program of the bench in its own process. */
export type Program<Ready> = {
  /** What it said when it was ready. */
  readonly ready: Ready;
  /** Its answer to a message. */
  readonly ask: <T>(question: string | object) => Promise<T>;
  readonly send: (message: object) => void;
  /** Lets it end, and waits for that. */
  readonly stop: () => Promise<void>;
};

/** Starts `file` of this folder, with `args`, and waits until it is ready. */
export async function startProgram<Ready>(
  file: string,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<Program<Ready>> {
  const child = fork(path.join(import.meta.dirname, file), args, { execArgv: [...nodeFlags] });
  const ended = once(child, 'exit');
  const nextMessage = async <T>(): Promise<T> => {
    const over = new AbortController();
    const gone = ended.then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`)));
    const said = once(child, 'message', over).then(([value]) => value as T);
    return await Promise.race([said, gone]).finally(() => {
      said.catch(() => {});
      over.abort();
    });
  };
  return {
    ready: await nextMessage<Ready>(),
    send: (message) => void child.send(message),
    async ask(question) {
      const answer = nextMessage();
      child.send(question);
      return (await answer) as never;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** A server in its own process, so that it and its load do not share an event loop. */
export type Server = Pick<Program<unknown>, 'ask' | 'stop'> & {
  readonly address: string;
  readonly setupCode: string;
  readonly cpu: () => Promise<Cpu>;
  /** The sum of both. */
  readonly cpuMs: () => Promise<number>;
  /** Makes it announce something to all subscribers; returns the start, in ms since 1970. */
  readonly announce: (ownerId: string) => Promise<number>;
};

/** Starts `file` of this folder, with `args`, and waits until it listens. */
export async function startServer(
  file: string,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<Server> {
  const flags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [];
  type Ready = { readonly address: string; readonly setupCode?: string };
  const { ready, ask, stop } = await startProgram<Ready>(file, args, [...nodeFlags, ...flags]);
  const cpu = () => ask<Cpu>('cpu');
  return {
    address: ready.address,
    setupCode: ready.setupCode ?? '',
    ask,
    stop,
    cpu,
    async cpuMs() {
      const { userMs, systemMs } = await cpu();
      return userMs + systemMs;
    },
    announce: async (ownerId) => (await ask<{ atMs: number }>({ ownerId })).atMs,
  };
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
