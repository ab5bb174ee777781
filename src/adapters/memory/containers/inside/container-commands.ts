import { once } from 'node:events';
import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ContainerNotRunning,
  type ContainerObserver,
  ContainerPaused,
  type ContainerSpec,
  type RuntimeHandle,
} from '../../../../ports/containers/container-runtime.ts';
import type {
  CommandEvent,
  CommandRequest,
  ContainerCommands,
} from '../../../../ports/containers/inside/container-commands.ts';
import type { MemoryRuntime } from '../container-runtime.ts';

/** A few commands; `cat` and `sh` answer their input as it comes, the others have all output at their end. */
export const memoryCommands = (
  runtime: Pick<ContainerObserver, 'observe'> & Partial<Pick<MemoryRuntime, 'boxes'>>,
): ContainerCommands => ({
  async open(handle, request) {
    await requireRunning(runtime, handle);
    const spec = runtime.boxes?.get(handle.runtimeId)?.spec;
    const ending = new AbortController();
    const ended = once(ending.signal, 'abort').then(() => ({ exitCode: null }));
    const [name = '', ...args] = request.command;
    const size = request.terminal && { ...request.terminal };
    const own = { ...request, ...(size && { terminal: size }) };
    const missing: Command = () => ({ exitCode: 127, stderr: `${name}: not found\n` });
    const run = (COMMANDS[name] ?? missing)(args, own, spec, ending.signal);
    const end = async (): Promise<void> => ending.abort();
    const resize = async (cols: number, rows: number): Promise<void> => {
      if (size !== undefined) Object.assign(size, { cols, rows });
    };
    return { events: events(Promise.race([run, ended]), ending.signal), end, signal: end, resize };
  },
});

/** Throws like the engine for a missing or stopped container. */
export async function requireRunning(
  runtime: Pick<ContainerObserver, 'observe'>,
  handle: RuntimeHandle,
): Promise<void> {
  const { kind } = await runtime.observe(handle);
  if (kind === 'paused') throw new ContainerPaused('container is paused');
  if (kind !== 'running') throw new ContainerNotRunning('container is not running', kind === 'gone');
}

async function* events(result: Promise<Output>, ending: AbortSignal): AsyncGenerator<CommandEvent> {
  const { exitCode, stdout, stderr } = await result;
  if (stdout instanceof Readable) {
    for await (const data of untilEnded(stdout, ending)) yield { kind: 'output', stream: 'stdout', data };
    yield { kind: 'exit', exitCode: ending.aborted ? null : exitCode };
    return;
  }
  for (const [stream, text] of [
    ['stdout', stdout],
    ['stderr', stderr],
  ] as const) {
    const data = Buffer.from(text ?? '');
    // Pieces may end at any byte.
    if (data.length > 0) yield { kind: 'output', stream, data: data.subarray(0, 1) };
    if (data.length > 1) yield { kind: 'output', stream, data: data.subarray(1) };
  }
  yield { kind: 'exit', exitCode };
}

async function* untilEnded(source: Readable, ending: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* addAbortSignal(ending, source);
  } catch (error) {
    if (!ending.aborted) throw error;
  }
}

async function* sizes(script: string, { stdin, terminal }: CommandRequest): AsyncGenerator<Buffer> {
  const size = (): Buffer => Buffer.from(`${terminal?.rows} ${terminal?.cols}\r\n`);
  if (script.startsWith('stty size')) yield size();
  if (stdin instanceof Readable) await once(stdin, 'data');
  yield size();
}

type Output = {
  readonly exitCode: number | null;
  readonly stdout?: string | Buffer | Readable;
  readonly stderr?: string;
};
type Command = (
  args: readonly string[],
  request: CommandRequest,
  spec: ContainerSpec | undefined,
  ending: AbortSignal,
) => Output | Promise<Output>;

const COMMANDS: Readonly<Record<string, Command>> = {
  true: () => ({ exitCode: 0 }),
  false: () => ({ exitCode: 1 }),
  echo: (args) => ({ exitCode: 0, stdout: `${args.join(' ')}\n` }),
  hostname: (_args, _request, spec) => ({ exitCode: 0, stdout: `${spec?.hostname}\n` }),
  pwd: (_args, request) => ({ exitCode: 0, stdout: `${request.workdir ?? '/workspace'}\n` }),
  cat: ([path], { stdin }) =>
    path === undefined
      ? { exitCode: 0, stdout: stdin ?? '' }
      : { exitCode: 1, stderr: `cat: ${path}: No such file or directory\n` },
  printenv: ([name = ''], { env }, spec) => {
    const value = { HOME: '/workspace', ...spec?.env, ...env }[name];
    return value === undefined ? { exitCode: 1 } : { exitCode: 0, stdout: `${value}\n` };
  },
  // Only as `sh -c 'stty size; read line; stty size'` in a terminal, with or without the first size.
  sh: ([, script = ''], request) =>
    request.terminal !== undefined
      ? { exitCode: 0, stdout: Readable.from(sizes(script, request)) }
      : { exitCode: 127, stderr: 'sh: not found\n' },
  // Only as `head -c BYTES /dev/zero`.
  head: ([, bytes]) => ({ exitCode: 0, stdout: Buffer.alloc(Number(bytes)) }),
  sleep: async ([seconds], { timeoutSeconds }, _spec, signal) => {
    const limit = timeoutSeconds ?? Number.POSITIVE_INFINITY;
    const inTime = Number(seconds) <= limit;
    const ms = Math.min(Number(seconds), limit) * 1_000;
    const slept = await delay(ms, true, { signal }).catch(() => false);
    return { exitCode: slept && inTime ? 0 : null };
  },
};
