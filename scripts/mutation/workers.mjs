import { fork } from 'node:child_process';
import path from 'node:path';
import { watch } from '../lib/command.mjs';
import { modernNode } from '../lib/node.mjs';

/** Tests leave services behind: a worker that has grown so large is replaced. */
const MAX_RSS_MB = 900;

/** A worker that answers nothing for so long beyond the limit of its test is in an endless loop. */
const GRACE_MS = 3_000;

/**
 * A process that runs tests, started at the first request and again after it was lost.
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
    const made = fork(file, [root, code], {
      execPath: modernNode(root),
      execArgv: ['--no-warnings'],
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    watch(made);
    return made;
  }

  return {
    end,
    /**
     * The answer, or how the worker was lost: `timeout` when it said nothing for the limit of the test that it is in, `crashed`
     * when it ended by itself.
     * @param {import('./worker.mjs').Request} request
     * @param {readonly number[]} limitsMs of its tests
     * @returns {Promise<{ result: any } | { lost: 'timeout' | 'crashed', at: number }>}
     */
    ask(request, limitsMs) {
      const worker = child ?? begin();
      child = worker;
      return new Promise((resolve) => {
        let at = 0;
        /** @type {NodeJS.Timeout} */
        let timer;
        /** @param {{ result: any } | { lost: 'timeout' | 'crashed', at: number }} outcome */
        const done = (outcome) => {
          clearTimeout(timer);
          worker.removeAllListeners('message');
          worker.off('exit', onExit);
          if ('lost' in outcome) end();
          resolve(outcome);
        };
        const onExit = () => done({ lost: 'crashed', at });
        const arm = () => {
          clearTimeout(timer);
          timer = setTimeout(() => done({ lost: 'timeout', at }), (limitsMs[at] ?? 0) + GRACE_MS);
        };
        worker.on('exit', onExit);
        worker.on('message', (/** @type {any} */ message) => {
          if ('at' in message) {
            at = message.at;
            arm();
            return;
          }
          // tap itself sends its time limit
          if (!('result' in message)) return;
          done({ result: message.result });
          if (message.rssMb > MAX_RSS_MB) end();
        });
        // its first answer also takes the loading of the service
        timer = setTimeout(() => done({ lost: 'timeout', at }), 30_000 + (limitsMs[0] ?? 0));
        worker.send(request);
      });
    },
  };
}

/**
 * Does all of the work, so many at a time, each on a worker that is kept for the next.
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
