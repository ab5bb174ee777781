import { availableParallelism } from 'node:os';
import { whenIdle } from './processor-use.mjs';

/**
 * @typedef {import('./units.mjs').Unit} Unit
 * @typedef {'engine' | 'other'} Lane
 */

/** The number of test processes: two more than processors, because engine and browser tests wait half of the time. */
const AT_ONCE = availableParallelism() + 2;
/** More processes start while they leave a part of the machine idle, but no more than this. */
const MOST_AT_ONCE = 2 * availableParallelism() + 2;

/**
 * Runs the units in order, `atOnce` at a time. Up to `most` run when the machine is idle, each from a moment that
 * `onIdle` reports. Units that need an engine wait for `prepared`. While units of both kinds wait, each kind leaves one
 * process to the other. Files that a unit did not reach run next.
 * @param {readonly Unit[]} units
 * @param {{ run: (files: readonly string[]) => Promise<readonly string[]>, prepared: Promise<unknown>, atOnce?: number, most?: number, onIdle?: typeof whenIdle }} options
 */
export async function workThrough(units, { run, prepared, onIdle = whenIdle, ...limits }) {
  const { atOnce = AT_ONCE, most = limits.atOnce ?? MOST_AT_ONCE } = limits;
  const lanes = lanesOf(units);
  let stop = () => {};
  await new Promise((resolve, reject) => {
    const fill = () => {
      for (let lane = lanes.next(atOnce); lane !== null; lane = lanes.next(atOnce)) start(lane);
      if (lanes.areDone()) resolve(undefined);
    };
    /** @param {Lane} lane */
    const start = (lane) => {
      run(lanes.begin(lane)).then((left) => {
        lanes.end(lane, left);
        fill();
      }, reject);
    };
    prepared.then(() => {
      lanes.prepared();
      fill();
    }, reject);
    fill();
    stop = onIdle(() => {
      const lane = lanes.next(most);
      if (lane !== null) start(lane);
    });
  }).finally(() => stop());
}

/**
 * What waits and how many units run, of those that need an engine and of the others.
 * @param {readonly Unit[]} units
 */
function lanesOf(units) {
  const queues = {
    engine: units.filter(({ kind }) => kind === 'engine').map(({ files }) => files),
    other: units.filter(({ kind }) => kind !== 'engine').map(({ files }) => files),
  };
  const running = { engine: 0, other: 0 };
  let isPrepared = false;
  const count = () => running.engine + running.other;
  return {
    /**
     * The lane of the unit that may start now, when no more than `limit` may run.
     * @param {number} limit
     * @returns {Lane | null}
     */
    next: (limit) => {
      if (count() >= limit) return null;
      const oneLess = Math.max(1, limit - 1);
      const forEngines = queues.other.length > 0 ? oneLess : limit;
      if (isPrepared && queues.engine.length > 0 && running.engine < forEngines) return 'engine';
      const forOthers = queues.engine.length > 0 ? oneLess : limit;
      return queues.other.length > 0 && running.other < forOthers ? 'other' : null;
    },
    /** @param {Lane} lane */
    begin: (lane) => {
      running[lane] += 1;
      return queues[lane].shift() ?? [];
    },
    /**
     * @param {Lane} lane
     * @param {readonly string[]} left
     */
    end: (lane, left) => {
      running[lane] -= 1;
      if (left.length > 0) queues[lane].unshift(left);
    },
    prepared: () => {
      isPrepared = true;
    },
    areDone: () => count() + queues.engine.length + queues.other.length === 0,
  };
}
