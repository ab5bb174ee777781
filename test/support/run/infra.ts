import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { outsideOfTap } from '../child.ts';
import { PREFIX } from '../folder.ts';
import { eventually } from '../patience.ts';

/** What tests may need besides Node.js. Each part starts at its first use and ends with the run. */
export type Parts = {
  /** A server with the migrated database `template_berth`. */
  readonly postgres: { readonly url: string };
  /** A container engine that has the base image. */
  readonly engine: {
    readonly endpoint: string;
    readonly image: string;
    readonly kind: 'external' | 'private';
    readonly view: string | null;
  };
  /** Images of the engine: the base image with BusyBox in the place of every tool of Debian, and one with nothing but BusyBox. */
  readonly busybox: { readonly inPlaceOfTools: string; readonly bare: string };
  /** A headless Chromium to start. */
  readonly browser: { readonly program: string };
  /** A service on the run's engine and database server; nobody changes its settings. */
  readonly service: {
    readonly address: string;
    readonly pid: number;
    /** The URL of its database. */
    readonly database: string;
    /** An API token with all rights. */
    readonly adminToken: string;
    /** The file with its output. */
    readonly log: string;
  };
  /** The folder with `pg_dump`, `initdb` and the like of the distribution. */
  readonly systemPostgres: { readonly programs: string };
  /** A Redis to start. */
  readonly redis: { readonly program: string };
  /** Programs that people type commands into. */
  readonly shells: { readonly bash: string; readonly zsh: string; readonly fish: string };
  /** Node.js 20. */
  readonly node20: { readonly program: string };
};
export type Need = keyof Parts;
export type Answer<N extends Need = Need> =
  | { readonly ok: true; readonly value: Parts[N] }
  | { readonly ok: false; readonly reason: string };
export type Message = { readonly progress: string } | { readonly answer: Answer };

const KEEPER = path.join(import.meta.dirname, 'keeper.ts');
/** On a busy machine, starting a process and compiling its modules may take over a minute. */
const START_WITHIN_MS = 120_000;

/** The run: the process that starts every test file, ours or tap's, or a test file started by hand. */
const owner =
  Number(process.env['TEST_RUN']) || (process.env['_TAPJS_PROCESSINFO_CWD_'] ? process.ppid : process.pid);

export const folderOf = (run: number): string => path.join(tmpdir(), `${PREFIX}${run}`);
export const socketOf = (run: number): string => path.join(folderOf(run), 'keeper.sock');

/** Asks the run's keeper for a part, which may take minutes on a new machine. */
export async function provide<N extends Need>(need: N): Promise<Answer<N>> {
  const socket = await connected();
  socket.write(`${JSON.stringify({ need })}\n`);
  try {
    for await (const line of createInterface({ input: socket })) {
      const message = JSON.parse(line) as { progress: string } | { answer: Answer<N> };
      if ('answer' in message) return message.answer;
      process.stderr.write(`# ${need}: ${message.progress}\n`);
    }
    return { ok: false, reason: 'the keeper of the test infrastructure ended, see .tap/keeper.log' };
  } finally {
    socket.destroy();
  }
}

/** Ends everything started for this run, and waits for it. */
export async function stopAll(): Promise<void> {
  const socket = await dial();
  if (socket === null) return;
  socket.write(`${JSON.stringify({ stop: true })}\n`);
  await new Promise<void>((resolve) => socket.once('close', () => resolve()).resume());
}

async function connected(): Promise<Socket> {
  const first = await dial();
  if (first) return first;
  startKeeper();
  const socket = await eventually(dial, Boolean, { patienceMs: START_WITHIN_MS, everyMs: 30 });
  if (socket) return socket;
  throw new Error('the keeper of the test infrastructure did not start, see .tap/keeper.log');
}

function dial(): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(socketOf(owner));
    socket.once('connect', () => resolve(socket)).once('error', () => resolve(null));
  });
}

/** Two test files may do this at once; one of the keepers then exits. */
function startKeeper(): void {
  mkdirSync('.tap', { recursive: true });
  const log = openSync(path.join('.tap', 'keeper.log'), 'a');
  const keeper = spawn(...outsideOfTap(process.execPath, [KEEPER, `${owner}`]), {
    detached: true,
    stdio: ['ignore', log, log],
  });
  keeper.unref();
}

/**
 * The part that a test needs. Where that is impossible, the test is skipped with the reason and the result is null.
 * With REQUIRE_ALL=1 the runner counts a skip as a failure.
 */
export async function needs<N extends Need>(t: Test, need: N): Promise<Parts[N] | null> {
  const answer = await provide(need);
  if (answer.ok) return answer.value;
  const reason = `no ${need}: ${answer.reason}`;
  t.pass(need, { skip: reason });
  return null;
}
