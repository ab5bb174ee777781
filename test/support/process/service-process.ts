import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { within } from '../../../src/concurrency/timeout.ts';
import { outsideOfTap } from '../child.ts';

const SERVER = path.resolve('dist/app/main/bin/server.js');
/** On a busy machine, and with tools to install. */
const START_WITHIN_MS = 180_000;
/** The service promises half of it. */
const STOP_WITHIN_MS = 60_000;
const READY = /Berth is ready.*?(http:\/\/[^\s/]+)(?:\/setup#code=(\S+))?/;

export type Running = {
  readonly address: string;
  /** The one-time set-up code; null when there is an administrator. */
  readonly setupCode: string | null;
  readonly child: ChildProcess;
  /** All output so far. */
  readonly output: () => string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
  /** Sends the signal and waits for the end; returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

export type Installation = {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  /** The service's open file limit; by default the test's. */
  readonly openFiles?: number;
};

type Launch = {
  readonly server?: string;
  readonly cwd?: string;
  /** Receives the process at once, even of a failing start. */
  readonly began?: (stop: Running['stop']) => void;
  readonly onOutput?: (text: string) => void;
};

/** Starts the built service, or another `server`, and waits for its ready line, at most three minutes. */
export async function launchService(
  { env, openFiles }: Installation,
  { server = SERVER, cwd, began, onOutput }: Launch = {},
): Promise<Running> {
  const limit = openFiles === undefined ? [] : ['prlimit', `--nofile=${openFiles}`];
  const [first = '', ...rest] = [...limit, process.execPath, server];
  const [program, args] = outsideOfTap(first, rest);
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const lines: string[] = [];
  const print = (text: string): void => {
    lines.push(text);
    onOutput?.(text);
  };
  child.stderr.on('data', (chunk) => print(String(chunk)));
  const output = (): string => lines.join('\n');
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    if ((await within(STOP_WITHIN_MS, exited, null)) !== null) return child.exitCode;
    child.kill('SIGKILL');
    throw new Error(`the service did not end within ${STOP_WITHIN_MS} ms of ${signal}:\n${output()}`);
  };
  began?.(stop);
  const late = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    print(line);
    const ready = READY.exec(line);
    if (ready?.[1]) {
      clearTimeout(late);
      child.stdout.on('data', (chunk) => print(String(chunk)));
      return { address: ready[1], setupCode: ready[2] ?? null, child, output, ended, stop };
    }
  }
  clearTimeout(late);
  throw new Error(`the service did not start:\n${output()}`);
}
