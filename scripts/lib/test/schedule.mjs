import { availableParallelism } from 'node:os';

/**
 * @typedef {import('./units.mjs').Unit} Unit
 */

/** The number of test processes: one more than processors, because engine and browser tests wait half of the time. */
const AT_ONCE = availableParallelism() + 1;

/**
 * Runs the units in order, `atOnce` at a time. Units that need an engine wait for `prepared` and leave one process to
 * the others while there are any. Files that a unit did not reach run next.
 * @param {readonly Unit[]} units
 * @param {{ run: (files: readonly string[]) => Promise<readonly string[]>, prepared: Promise<unknown>, atOnce?: number }} options
 */
export async function workThrough(units, { run, prepared, atOnce = AT_ONCE }) {
  const queues = {
    engine: units.filter(({ kind }) => kind === 'engine').map(({ files }) => files),
    other: units.filter(({ kind }) => kind !== 'engine').map(({ files }) => files),
  };
  /** @typedef {keyof typeof queues} Kind */
  const running = { engine: 0, other: 0 };
  let isPrepared = false;
  /** @returns {Kind | null} */
  const next = () => {
    if (running.engine + running.other >= atOnce) return null;
    const hasOthers = queues.other.length > 0;
    const forEngines = hasOthers ? Math.max(1, atOnce - 1) : atOnce;
    if (isPrepared && queues.engine.length > 0 && running.engine < forEngines) return 'engine';
    return hasOthers && (running.other < atOnce - 1 || atOnce === 1) ? 'other' : null;
  };
  await new Promise((resolve, reject) => {
    const fill = () => {
      for (let kind = next(); kind !== null; kind = next()) start(kind);
      const isDone = running.engine + running.other + queues.engine.length + queues.other.length === 0;
      if (isDone) resolve(undefined);
    };
    /** @param {Kind} kind */
    const start = (kind) => {
      const files = queues[kind].shift();
      if (files === undefined) return;
      running[kind] += 1;
      run(files).then((left) => {
        running[kind] -= 1;
        if (left.length > 0) queues[kind].unshift(left);
        fill();
      }, reject);
    };
    prepared.then(() => {
      isPrepared = true;
      fill();
    }, reject);
    fill();
  });
}
