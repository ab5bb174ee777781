import type { EngineCalls } from '../engine/engine-client.ts';
import { type OpenExec, openExec } from '../exec/exec-stream.ts';
import { KEEP_ALIVE_SECONDS, SPARE_END, SPARE_READY, spareProgram } from './spare-scripts.ts';
import { outputUntil } from './terminal-start.ts';

/** In one container: about as many panes as a page opens at once. */
const MAX_SPARES = 4;
/** As many spares wait as terminals were opened in this time. After a failure none is started for as long. */
const RECENT_MS = 60_000;
/** A container in which no terminal was opened for longer has no spare. */
const KEPT_FOR_MS = 600_000;
const READY_WITHIN_SECONDS = 20;

/** Of one container. Times are in milliseconds of a monotonic clock. */
type Spares = {
  readonly ready: readonly OpenExec[];
  readonly starting: number;
  /** When the last terminals were opened. */
  readonly openedMs: readonly number[];
  readonly failedMs: number;
};

const NONE: Spares = { ready: [], starting: 0, openedMs: [], failedMs: Number.NEGATIVE_INFINITY };

export type SpareShells = {
  /** A program that waits in the container for its line, or null when there is none. */
  take(runtimeId: string): OpenExec | null;
  /** A terminal was opened: starts spares for the next ones. */
  replenish(runtimeId: string): void;
  /** The container has no process to spare: ends its spares, and starts none for a minute. */
  release(runtimeId: string): void;
};

/**
 * To start a program in a container takes the engine most of the time in which a terminal opens. A spare was started
 * before, and waits for its arguments. It ends by itself when its service is gone. `program` is what spares become.
 */
export function spareShells(
  calls: EngineCalls,
  env: Readonly<Record<string, string>>,
  program: string,
): SpareShells {
  const containers = new Map<string, Spares>();
  const change = (runtimeId: string, by: (spares: Spares) => Partial<Spares>): Spares => {
    const spares = containers.get(runtimeId) ?? NONE;
    const changed = { ...spares, ...by(spares) };
    containers.set(runtimeId, changed);
    return changed;
  };
  const remove = (runtimeId: string, spare: OpenExec): void => {
    change(runtimeId, ({ ready }) => ({ ready: ready.filter((one) => one !== spare) }));
  };

  async function start(runtimeId: string): Promise<void> {
    change(runtimeId, ({ starting }) => ({ starting: starting + 1 }));
    const spare = await startSpare(calls, runtimeId, env, program).catch(() => null);
    change(runtimeId, ({ ready, starting, failedMs }) => ({
      starting: starting - 1,
      ready: spare === null ? ready : [...ready, spare],
      failedMs: spare === null ? performance.now() : failedMs,
    }));
    spare?.stream.once('close', () => remove(runtimeId, spare));
  }

  setInterval(() => {
    for (const [runtimeId, { ready, openedMs }] of containers) {
      const isKept = performance.now() - (openedMs.at(-1) ?? 0) < KEPT_FOR_MS;
      for (const { stream } of ready) stream.write(isKept ? '\n' : `${SPARE_END}\n`);
      if (!isKept) containers.delete(runtimeId);
    }
  }, KEEP_ALIVE_SECONDS * 1000).unref();

  return {
    take(runtimeId) {
      const spare = containers.get(runtimeId)?.ready[0];
      if (spare === undefined) return null;
      remove(runtimeId, spare);
      spare.stream.removeListener('readable', discard);
      return spare;
    },

    replenish(runtimeId) {
      const now = performance.now();
      const isRecent = (ms: number): boolean => now - ms < RECENT_MS;
      const { ready, starting, openedMs, failedMs } = change(runtimeId, (spares) => ({
        openedMs: [...spares.openedMs.filter(isRecent), now].slice(-MAX_SPARES),
      }));
      if (isRecent(failedMs)) return;
      for (let count = ready.length + starting; count < openedMs.length; count += 1) void start(runtimeId);
    },

    release(runtimeId) {
      for (const { stream } of containers.get(runtimeId)?.ready ?? []) stream.write(`${SPARE_END}\n`);
      change(runtimeId, () => ({ ready: [], failedMs: performance.now() }));
    },
  };
}

/** Throws when the container cannot run one. */
async function startSpare(
  calls: EngineCalls,
  runtimeId: string,
  env: Readonly<Record<string, string>>,
  program: string,
): Promise<OpenExec> {
  const command = ['sh', '-c', spareProgram(), 'berth', program];
  const spare = await openExec(calls, runtimeId, { command, env, tty: true, stdin: true });
  const { stream } = spare;
  const isReady = (tail: Buffer): boolean => tail.includes(SPARE_READY);
  const output = await outputUntil(stream, READY_WITHIN_SECONDS, isReady, SPARE_READY.length);
  if (output?.isEnough !== true) {
    stream.end(`${SPARE_END}\n`);
    throw new Error('a spare shell did not start');
  }
  // Otherwise the end of the stream would not be noticed. Until it is taken, it has nothing to say.
  stream.on('readable', discard);
  return spare;
}

function discard(this: OpenExec['stream']): void {
  this.read();
}
