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
