import { forEach } from './workers.mjs';

/** A slower test, in milliseconds, is not run for each mutant. */
const SLOWEST_MS = 30_000;

/**
 * @typedef {{ file: string, index: number, name: string, ms: number, reach: number,
 *   passesAnew?: boolean }} KnownTest
 * @typedef {object} Survey
 * @property {KnownTest[]} tests that pass when run alone
 * @property {Map<string, { test: KnownTest, hits: number }[]>} covering which tests reach a mutant, by its id
 * @property {Set<string>} fixed mutants in code that runs when its module is loaded
 * @property {Set<string>} loaded sources that some test loads
 */

/**
 * Runs each test alone, without a mutant, and records which mutants it reaches.
 * @param {readonly string[]} files
 * @param {{ jobs: number, where: { root: string, code: string } }} options
 * @returns {Promise<Survey>}
 */
export async function survey(files, { jobs, where }) {
  /** @type {Survey} */
  const known = { tests: [], covering: new Map(), fixed: new Set(), loaded: new Set() };
  await forEach(files, jobs, where, async (file, worker) => {
    const listed = await askTwice(worker, { list: file }, 60_000);
    if (listed === null) {
      console.log(`# not used: ${file} does not pass`);
      return;
    }
    for (const id of listed.fixed) known.fixed.add(id);
    for (const source of listed.loaded) known.loaded.add(source);
    for (const [index, name] of listed.names.entries()) {
      const cover = { file, index, limitMs: SLOWEST_MS };
      const covered = await askTwice(worker, { cover }, SLOWEST_MS);
      if (covered === null) {
        console.log(`# not used: ${file}: ${name}`);
        continue;
      }
      const reached = Object.entries(/** @type {Record<string, number>} */ (covered.reached));
      const test = { file, index, name, ms: covered.ms, reach: reached.length };
      known.tests.push(test);
      for (const [id, hits] of reached) {
        const tests = known.covering.get(id) ?? [];
        known.covering.set(id, tests);
        tests.push({ test, hits });
      }
    }
  });
  const seconds = known.tests.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  console.log(`# ${known.tests.length} tests, ${seconds.toFixed(0)} s one after the other`);
  return known;
}

/**
 * The result of a passing test; null if it fails, even in a fresh process.
 * @param {ReturnType<typeof import('./workers.mjs').aWorker>} worker
 * @param {import('./worker.mjs').Request} request
 * @param {number} limitMs
 */
async function askTwice(worker, request, limitMs) {
  for (let times = 0; times < 2; times += 1) {
    const answer = await worker.request(request, [limitMs]);
    if ('result' in answer && answer.result.ok) return answer.result;
    worker.end();
  }
  return null;
}
