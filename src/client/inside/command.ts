import { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { linesOf } from './lines.ts';

export type RunOptions = {
  /** All of the command's input. */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** `/workspace` by default. */
  readonly cwd?: string;
  /** 60 by default, at most 3600. Then the command and its children are ended. */
  readonly timeoutSeconds?: number;
  /** Gets the output as it comes. A returned promise is waited for, which slows the command. */
  readonly onStdout?: (text: string) => unknown;
  readonly onStderr?: (text: string) => unknown;
  /** How much of each stream the result has, in characters; 8 Mi by default. */
  readonly maxOutputCharacters?: number;
  /** Whether another exit code than 0 throws a {@link CommandError}. */
  readonly check?: boolean;
  readonly signal?: AbortSignal;
};

export type RunResult = {
  /** null: ended by the time limit. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The output was longer than `maxOutputCharacters`; the callbacks got all of it. */
  readonly truncated: boolean;
};

/** A command that failed. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly result: RunResult;

  constructor(command: string, result: RunResult) {
    const how =
      result.exitCode === null ? 'exceeded its time limit' : `ended with exit code ${result.exitCode}`;
    super(`${command} ${how}`);
    this.result = result;
  }
}

const MAX_OUTPUT_CHARACTERS = 8 * 1024 * 1024;

type Line = {
  readonly stream?: 'stdout' | 'stderr';
  readonly data?: string;
  readonly exit_code?: number | null;
};

/**
 * Runs a command to its end. A string is run by `sh -c`. Throws a `BerthError`; `command_outcome_unknown` when the
 * connection broke: the command may have been carried out.
 */
export async function run(
  requester: Requester,
  path: string,
  command: string | readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const words = typeof command === 'string' ? ['sh', '-c', command] : command;
  const response = await requester.send(path, {
    method: 'POST',
    headers: { accept: 'application/x-ndjson' },
    body: bodyOf(words, options),
    signal: options.signal ?? null,
    timeoutMs: null,
  });
  const result = await collected(response, options);
  if (options.check === true && result.exitCode !== 0) throw new CommandError(words.join(' '), result);
  return result;
}

const bodyOf = (command: readonly string[], { stdin, env, cwd, timeoutSeconds }: RunOptions) => ({
  command,
  stdin,
  env,
  workdir: cwd,
  timeout_seconds: timeoutSeconds,
});

async function collected(response: Response, options: RunOptions): Promise<RunResult> {
  const { maxOutputCharacters = MAX_OUTPUT_CHARACTERS } = options;
  const output = { stdout: '', stderr: '' };
  const callbacks = { stdout: options.onStdout, stderr: options.onStderr };
  let truncated = false;
  const take = async ({ stream = 'stdout', data = '' }: Line): Promise<void> => {
    const room = maxOutputCharacters - output[stream].length;
    output[stream] += data.slice(0, room);
    truncated ||= data.length > room;
    await callbacks[stream]?.(data);
  };
  for await (const line of unbroken(response, options.signal)) {
    const parsed = JSON.parse(line) as Line;
    if (parsed.exit_code !== undefined) return { exitCode: parsed.exit_code, ...output, truncated };
    await take(parsed);
  }
  throw unknownOutcome();
}

async function* unbroken(response: Response, signal?: AbortSignal): AsyncGenerator<string, void, undefined> {
  const lines = linesOf(response.body);
  try {
    for (;;) {
      const { done, value } = await lines.next().catch((cause) => {
        signal?.throwIfAborted();
        throw unknownOutcome(cause);
      });
      if (done) return;
      yield value;
    }
  } finally {
    await lines.return();
  }
}

const unknownOutcome = (cause?: unknown): BerthError =>
  new BerthError(0, 'command_outcome_unknown', 'the connection broke before the command ended', { cause });
