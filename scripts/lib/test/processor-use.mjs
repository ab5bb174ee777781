import os from 'node:os';

/**
 * Starts measuring. The returned function reports the elapsed time, the processor time of all programs, and the
 * utilisation.
 * @returns {() => string}
 */
export function processorUse() {
  const startedAt = performance.now();
  const before = ticks();
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const now = ticks();
    const busySeconds = (now.busyMs - before.busyMs) / 1000;
    const share = Math.round(
      (100 * busySeconds) / ((now.busyMs + now.idleMs - before.busyMs - before.idleMs) / 1000),
    );
    return `${minutes(seconds)} elapsed, ${minutes(busySeconds)} of processor time, ${share} % of the machine`;
  };
}

const POLL_EVERY_MS = 2000;
/** With less than this to spare, one more test process would only slow down the others. */
const IDLE_SHARE = 0.15;

/**
 * Calls `then` after each two seconds in which a part of the processors was idle, also for a disk. The result ends that.
 * @param {() => void} then
 * @returns {() => void}
 */
export function whenIdle(then) {
  let since = performance.now();
  let before = ticks();
  const timer = setInterval(() => {
    const now = ticks();
    const busyShare =
      (now.busyMs - before.busyMs) / ((performance.now() - since) * os.availableParallelism());
    since = performance.now();
    before = now;
    if (busyShare < 1 - IDLE_SHARE) then();
  }, POLL_EVERY_MS);
  return () => clearInterval(timer);
}

/** Since boot, over all processors. */
function ticks() {
  let busyMs = 0;
  let idleMs = 0;
  for (const { times } of os.cpus()) {
    idleMs += times.idle;
    busyMs += times.user + times.nice + times.sys + times.irq;
  }
  return { busyMs, idleMs };
}

/** @param {number} seconds */
const minutes = (seconds) => `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
