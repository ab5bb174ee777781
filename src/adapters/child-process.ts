import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** Grace of a program between SIGTERM and SIGKILL, and of a killed one to end. */
const KILL_AFTER_MS = 2_000;

export type CommandResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type CommandOptions = {
  readonly timeoutSeconds?: number;
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called per complete line of stdout and stderr. */
  readonly onLine?: (line: string) => void;
  /** Ends the program with its children; so does the end of this process. */
  readonly signal?: AbortSignal | undefined;
};

export type ChildOptions = Omit<SpawnOptions, 'signal'> & Pick<CommandOptions, 'signal'>;

/** The environment variables that child programs may see: paths, and the outgoing proxy. */
const FOR_PROGRAMS = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'DOCKER_TMPDIR', 'DOCKER_RAMDISK', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['APT_CONFIG', 'DEBIAN_FRONTEND'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
]);

/** The environment of child programs, without Berth's settings, which include passwords and keys. */
export const programEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => FOR_PROGRAMS.has(name)));

/**
 * Starts a program and resolves when it runs. Rejects when it cannot start: a missing program, or no free descriptor,
 * process or memory. Unlike `spawn` it never throws and never leaves an 'error' event without a listener.
 */
export async function startChild(
  file: string,
  args: readonly string[],
  { signal, ...options }: ChildOptions,
): Promise<ChildProcess> {
  signal?.throwIfAborted();
  const child = spawn(file, args, signal === undefined ? options : { ...options, detached: true });
  // The listener stays, since an unsent signal also emits 'error'.
  await new Promise<void>((resolve, reject) => child.on('error', reject).once('spawn', resolve));
  if (signal !== undefined) endWith(child, signal);
  return child;
}

/**
 * Runs a program to its end. Never rejects: code 127 means that it could not start, 137 that it was killed. One that a
 * kill does not end, or whose children keep its output open, is not waited for beyond its time limit.
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  { timeoutSeconds = 30, input = '', onLine, ...options }: CommandOptions = {},
): Promise<CommandResult> {
  let child: ChildProcess;
  try {
    child = await startChild(file, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    return { code: 127, stdout: '', stderr: error instanceof Error ? error.message : String(error) };
  }
  const ended = Promise.withResolvers<number>();
  child.once('close', (code) => ended.resolve(code ?? 137));
  let limit = setTimeout(() => {
    child.kill('SIGKILL');
    limit = setTimeout(ended.resolve, KILL_AFTER_MS, 137);
  }, timeoutSeconds * 1000);
  const out = collector(child.stdout, onLine);
  const err = collector(child.stderr, onLine);
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const code = await ended.promise;
  clearTimeout(limit);
  for (const stream of child.stdio) stream?.destroy();
  return { code, stdout: out(), stderr: err() };
}

/** The program leads a process group, so that a signal reaches its children too. */
function endWith(child: ChildProcess, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined;
  const killGroup = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // the group is empty
    }
  };
  const kill = (): void => killGroup('SIGKILL');
  const end = (): void => {
    killGroup('SIGTERM');
    timer = setTimeout(kill, KILL_AFTER_MS);
  };
  signal.addEventListener('abort', end, { once: true });
  process.once('exit', kill);
  child.once('exit', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    process.off('exit', kill);
    if (signal.aborted) kill();
  });
  if (signal.aborted) end();
}

/** Collects a stream; the result is everything so far. */
function collector(stream: Readable | null, onLine?: (line: string) => void): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (onLine !== undefined) stream?.on('data', lineSplitter(onLine));
  return () => Buffer.concat(chunks).toString();
}

/** Splits chunks into lines; a rest without a newline waits for the next chunk. */
export function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk.toString()).split(/[\r\n]+/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onLine(line.trim());
  };
}
