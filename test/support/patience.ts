import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/**
 * How long a test waits for an effect, in milliseconds: far longer than on a busy machine, and well below a test file's
 * limit (240 s), so that the test reports what is missing.
 */
const PATIENCE_MS = 30_000;
/**
 * A pause between two checks is this share of the wait so far, within these limits in milliseconds. Hundreds of checks a
 * second cost a busy machine more than a long wait loses by a late one.
 */
const PAUSE = { share: 1 / 20, leastMs: 5, mostMs: 100 };
/**
 * Costly checks, such as a command in a container, happen less often: a rest takes this many times as long as its check,
 * at most this many milliseconds. With less, the checks themselves are what a busy machine is busy with.
 */
const REST = { times: 3, mostMs: 500 };

type Patience = {
  readonly patienceMs?: number;
  /** The longest pause between two checks, in milliseconds. */
  readonly everyMs?: number;
};

/** Resolves when `check` holds; rejects with `what`, or with the check's source text. */
export async function waitFor(
  check: () => unknown,
  { what, ...patience }: Patience & { readonly what?: string | (() => string) } = {},
): Promise<void> {
  if (await eventually(check, Boolean, patience)) return;
  const awaited = typeof what === 'function' ? what() : (what ?? String(check));
  throw new Error(`not so within ${patience.patienceMs ?? PATIENCE_MS} ms: ${awaited}`);
}

/** Reads until the value is good; returns the last value, good or not. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  isGood: (value: T) => unknown,
  { patienceMs = PATIENCE_MS, everyMs }: Patience = {},
): Promise<T> {
  const beganAt = performance.now();
  const end = beganAt + patienceMs;
  // Checks more often at first: most effects in this process take a few turns of its event loop.
  for (
    let pauseMs = 1;
    ;
    pauseMs = Math.min(2 * pauseMs, everyMs ?? pauseAfter(performance.now() - beganAt))
  ) {
    const startedAt = performance.now();
    const value = await read();
    if (startedAt > end || isGood(value)) return value;
    await sleep(Math.max(pauseMs, Math.min(REST.times * (performance.now() - startedAt), REST.mostMs)));
  }
}

const pauseAfter = (waitedMs: number): number =>
  Math.min(Math.max(PAUSE.share * waitedMs, PAUSE.leastMs), PAUSE.mostMs);

/** Reads until the value is good, and returns it. Throws with the last value when it never is. */
export async function waitForValue<T>(
  read: () => T | Promise<T>,
  isGood: (value: T) => unknown,
  patience: Patience = {},
): Promise<T> {
  const last = await eventually(read, isGood, patience);
  if (isGood(last)) return last;
  throw new Error(`not so within ${patience.patienceMs ?? PATIENCE_MS} ms: ${isGood}: ${inspect(last)}`);
}

/** Between two readings of `standsStill`, in milliseconds: a running program causes a change in less. */
const STILL_MS = 400;

/** Reads until three consecutive readings are equal, and returns that. Throws when they never are. */
export async function standsStill(read: () => Promise<number>): Promise<number> {
  const end = performance.now() + PATIENCE_MS;
  let [same, last] = [0, await read()];
  while (same < 2) {
    if (performance.now() > end) throw new Error(`no stillness within ${PATIENCE_MS} ms: ${last}`);
    await sleep(STILL_MS);
    const now = await read();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}
