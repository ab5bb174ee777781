import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { watched } from '../lib/command.mjs';
import { modernNode } from '../lib/node.mjs';

/** Tests leave services behind: a larger worker is replaced. */
const MAX_RSS_MB = 900;

/** Processor time beyond a test's limit, in milliseconds, that means an endless loop. */
const GRACE_MS = 1_000;

/** A worker silent for this long, in milliseconds, is lost. */
const SILENT_MS = 300_000;

/** Interval of the checks on a worker, in milliseconds. */
const CHECK_EVERY_MS = 500;

/**
 * A process that runs tests, started by the first request and restarted after a loss.
 * @param {{ root: string, code: string }} where
 */
export function aWorker({ root, code }) {
  /** @type {import('node:child_process').ChildProcess | null} */
  let child = null;
  const end = () => {
    child?.kill('SIGKILL');
    child = null;
  };

  function begin() {
    const file = path.join(import.meta.dirname, 'worker.mjs');
    return watched(() =>
      fork(file, [root, code], {
        execPath: modernNode(root),
        execArgv: ['--no-warnings'],
        cwd: root,
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      }),
    );
  }

  return {
    end,
    /**
     * The answer, or how the worker was lost: `timeout` when it was silent for its test's limit, `crashed` when it
     * exited.
     * @param {import('./worker.mjs').Request} request
     * @param {readonly number[]} limitsMs of its tests
     * @returns {Promise<{ result: any } | { lost: 'timeout' | 'crashed', at: number }>}
     */
    async request(request, limitsMs) {
      const worker = child ?? begin();
      child = worker;
      const answering = answerOf(worker, limitsMs);
      worker.send(request);
      const outcome = await answering;
      if ('lost' in outcome || outcome.rssMb > MAX_RSS_MB) end();
      return outcome;
    },
  };
}

/**
 * Waits for a worker's next result, or for its loss.
 * @param {import('node:child_process').ChildProcess} worker
 * @param {readonly number[]} limitsMs
 * @returns {Promise<{ result: any, rssMb: number } | { lost: 'timeout' | 'crashed', at: number }>}
 */
function answerOf(worker, limitsMs) {
  return new Promise((resolve) => {
    let at = 0;
    let since = performance.now();
    let cpuSinceMs = cpuMs(worker.pid);
    /** @param {{ result: any, rssMb: number } | { lost: 'timeout' | 'crashed', at: number }} outcome */
    const done = (outcome) => {
      clearInterval(checking);
      worker.removeAllListeners('message');
      worker.off('exit', onExit);
      resolve(outcome);
    };
    const onExit = () => done({ lost: 'crashed', at });
    const checking = setInterval(() => {
      const isLooping = cpuMs(worker.pid) - cpuSinceMs > (limitsMs[at] ?? 0) + GRACE_MS;
      if (isLooping || performance.now() - since > SILENT_MS) done({ lost: 'timeout', at });
    }, CHECK_EVERY_MS);
    worker.on('exit', onExit);
    worker.on('message', (/** @type {any} */ message) => {
      if ('at' in message) {
        at = message.at;
        since = performance.now();
        cpuSinceMs = cpuMs(worker.pid);
      }
      // tap sends its time limit too
      if ('result' in message) done({ result: message.result, rssMb: message.rssMb });
    });
  });
}

/** The kernel's process clock ticks a hundred times a second. */
const KERNEL_TICK_MS = 10;

/**
 * The processor time of a process; 0 if it is gone.
 * @param {number | undefined} pid
 */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * KERNEL_TICK_MS;
  } catch {
    return 0;
  }
}

/**
 * Runs `work` for all items, `jobs` at a time, each on a reused worker.
 * @template T
 * @param {readonly T[]} items
 * @param {number} jobs
 * @param {{ root: string, code: string }} where
 * @param {(item: T, worker: ReturnType<typeof aWorker>) => Promise<void>} work
 */
export async function forEach(items, jobs, where, work) {
  let next = 0;
  const lane = async () => {
    const worker = aWorker(where);
    try {
      while (next < items.length) {
        const item = /** @type {T} */ (items[next]);
        next += 1;
        await work(item, worker);
      }
    } finally {
      worker.end();
    }
  };
  await Promise.all(Array.from({ length: jobs }, lane));
}
