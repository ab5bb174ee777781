import type { RunningCommand } from '../../client/index.ts';
import type { ExecSignal } from '../../protocol/exec-frames.ts';
import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import { type Io, isTerminal } from '../io/io.ts';
import { writeTo } from '../io/streams.ts';

const SIGNALS = ['INT', 'TERM', 'HUP', 'QUIT'] as const satisfies readonly ExecSignal[];

/** The most of each stream that JSON output has. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Passes standard input and output on until the program ends. Returns its exit code. */
export const passOn = async (running: RunningCommand, io: Io, stdin: boolean): Promise<number | null> =>
  await during(running, io, stdin, async () => {
    for await (const { stream, bytes } of running)
      await writeTo(stream === 'stdout' ? io.out : io.err, bytes);
  });

export type Kept = {
  readonly exit_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
};

/** Like {@link passOn}, but keeps the output as text. */
export async function keepOutput(running: RunningCommand, io: Io, stdin: boolean): Promise<Kept> {
  const kept = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const room = { stdout: MAX_KEPT_BYTES, stderr: MAX_KEPT_BYTES };
  let truncated = false;
  const exitCode = await during(running, io, stdin, async () => {
    for await (const { stream, bytes } of running) {
      truncated ||= bytes.length > room[stream];
      const part = bytes.subarray(0, room[stream]);
      room[stream] -= part.length;
      kept[stream].push(part);
    }
  });
  const text = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString();
  return { exit_code: exitCode, stdout: text(kept.stdout), stderr: text(kept.stderr), truncated };
}

/** Runs `read`, while input and signals go to the program. A second interrupt ends it. */
async function during(
  running: RunningCommand,
  io: Io,
  stdin: boolean,
  read: () => Promise<void>,
): Promise<number | null> {
  let interrupts = 0;
  const handlers = SIGNALS.map((name) => {
    const handler = (): void => {
      if (name === 'INT') interrupts += 1;
      if (interrupts > 1) running.close();
      else running.signal(name);
    };
    return [`SIG${name}`, handler] as const;
  });
  for (const [signal, handler] of handlers) process.on(signal, handler);
  let fault = null as CliError | null;
  const failed = (error: Error): void => {
    fault = unreadable(error, running.isConnected);
    running.close();
  };
  const sending = stdin ? sendInput(running, io, failed) : Promise.resolve();
  try {
    await read();
    if (fault !== null) throw fault;
    if (interrupts > 1) throw new CliError('interrupted', { exit: EXIT.interrupted, code: 'interrupted' });
    return await running.exitCode;
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
    if (stdin) io.in.destroy();
    await sending;
  }
}

const unreadable = ({ message }: Error, isConnected: boolean): CliError =>
  isConnected
    ? new CliError(`Could not read the rest of standard input, so the program was stopped: ${message}`)
    : new CliError(`Could not read the rest of standard input: ${message}`, {
        next: 'The connection is lost: the program may run on for about two minutes.',
      });

/** Sends standard input until it ends, or the program does. `failed`: the rest of it cannot be read. */
async function sendInput(
  running: RunningCommand,
  { in: input }: Io,
  failed: (error: Error) => void,
): Promise<void> {
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) await running.write(chunk);
  } catch {
    // Without a fault of the input, the program has ended.
    if (input.errored !== null && !isNothing(input, input.errored)) return failed(input.errored);
  }
  await running.closeInput();
}

/** Under `nohup`, standard input cannot be read at all; a closed terminal has no more input. */
const isNothing = (input: Io['in'], { code }: NodeJS.ErrnoException): boolean =>
  code === 'EBADF' || (code === 'EIO' && isTerminal(input));
