/**
 * Runs tests of one file at a time, with one mutant switched on. The mutated sources and the test support stay loaded;
 * a test file is imported again for each run, and its tests report to their own root.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * @typedef {{ file: string, index: number }} TestId
 * @typedef {TestId & { limitMs: number }} Timed
 * @typedef {{ list: string } | { cover: Timed } | { mutant: string | null, tests: Timed[], hitLimit: number,
 *   isFresh: boolean }} Request
 */

const TICK_MS = 50;

const [root = '', code = ''] = process.argv.slice(2);
// tap names test folders after the main script, and several workers run at once
process.argv = [process.execPath, path.join(root, `mutation-${process.pid}.mjs`)];
const { Test } = await import('tap');

/** @type {{ activeMutant?: string, currentTestId?: string, hitCount?: number, hitLimit?: number,
 *   mutantCoverage?: { static: Record<string, number>, perTest: Record<string, Record<string, number>> } }} */
const switches = Object.assign(globalThis, { __stryker__: {} }).__stryker__;

/** @type {Set<string>} */
const loaded = new Set();
let runs = 0;
/** Event loop ticks of the current or last test. */
let ticks = 0;
/** Part of each source's address while sources are reloaded; else empty. */
let generation = '';
const ours = ['src/', 'test/'].map((folder) => `${pathToFileURL(root)}/${folder}`);
let seen = 0;
let wanted = -1;
/** @type {string[]} */
let names = [];
/** @type {import('tap').Test | null} */
let current = null;

/**
 * The `t` of all test files: it counts their tests and runs the requested one.
 * @type {any}
 */
const t = new Proxy(
  {},
  {
    get: (_target, name) => {
      if (name === 'test') return testIfWanted;
      const value = Reflect.get(current ?? {}, name);
      return typeof value === 'function' ? value.bind(current) : value;
    },
  },
);
Object.assign(globalThis, { __mutationTap: t });

/** @param {any[]} args */
function testIfWanted(...args) {
  names.push(`${args[0]}`);
  seen += 1;
  return seen - 1 === wanted ? /** @type {any} */ (current).test(...args) : Promise.resolve();
}

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === 'tap' && context.parentURL?.includes('/test/'))
      return { url: 'mutation:tap', format: 'module', shortCircuit: true };
    const found = next(specifier, context);
    if (generation === '' || !ours.some((folder) => found.url.startsWith(folder))) return found;
    return { ...found, url: `${found.url}${found.url.includes('?') ? '&' : '?'}${generation}` };
  },
  load: (url, context, next) => {
    if (url === 'mutation:tap')
      return { format: 'module', source: 'export default globalThis.__mutationTap;', shortCircuit: true };
    if (!url.startsWith('file:')) return next(url, context);
    const source = path.relative(root, fileURLToPath(url));
    const mutated = path.join(code, `${source}.mjs`);
    if (!existsSync(mutated)) return next(url, context);
    loaded.add(source);
    return { format: 'module', source: readFileSync(mutated, 'utf8'), shortCircuit: true };
  },
});

/**
 * @param {Timed} test
 * @returns {Promise<'passed' | 'failed' | 'timeout'>}
 */
async function run({ file, index, limitMs }) {
  seen = 0;
  names = [];
  wanted = index;
  runs += 1;
  const url = `${pathToFileURL(path.join(root, file))}?run=${runs}`;
  /** @type {NodeJS.Timeout | undefined} */
  let ticking;
  try {
    return await new Promise((resolve) => {
      // ticks, not time: a process without processor time must not time out
      ticks = 0;
      ticking = setInterval(() => {
        ticks += 1;
        if (ticks * TICK_MS > limitMs) resolve('timeout');
      }, TICK_MS);
      const test = new Test({ name: file, cb: () => import(url) });
      current = /** @type {import('tap').Test} */ (test.t ?? test);
      test.parser.on('fail', () => resolve('failed'));
      test.on('complete', ({ ok }) => resolve(ok ? 'passed' : 'failed'));
      test.resume();
      test.runMain(() => {});
    });
  } finally {
    clearInterval(ticking);
    await turn();
    await turn();
  }
}

/** @param {string} file */
async function list(file) {
  const result = await run({ file, index: -1, limitMs: 60_000 });
  const fixed = Object.keys(switches.mutantCoverage?.static ?? {});
  return { ok: result === 'passed', names, fixed, loaded: [...loaded] };
}

/** @param {Timed} test */
async function cover(test) {
  switches.currentTestId = 'now';
  const before = process.cpuUsage();
  const result = await run(test);
  const { user, system } = process.cpuUsage(before);
  const ms = Math.max(ticks * TICK_MS, (user + system) / 1000);
  delete switches.currentTestId;
  const reached = switches.mutantCoverage?.perTest['now'] ?? {};
  if (switches.mutantCoverage) switches.mutantCoverage.perTest = {};
  return { ok: result === 'passed', ms, reached };
}

/**
 * @param {string | null} mutant
 * @param {readonly Timed[]} tests
 * @param {{ hitLimit: number, isFresh: boolean }} options `isFresh`: with all sources loaded while the mutant is active
 */
async function tryMutant(mutant, tests, { hitLimit, isFresh }) {
  if (isFresh) generation = `fresh=${runs}`;
  if (mutant !== null) Object.assign(switches, { activeMutant: mutant, hitCount: 0, hitLimit });
  try {
    for (const [at, test] of tests.entries()) {
      process.send?.({ at });
      const result = await run(test);
      if (result !== 'passed') return { verdict: result === 'failed' ? 'killed' : 'timeout', at };
    }
    return { verdict: 'survived', at: -1 };
  } finally {
    if (mutant !== null) delete switches.activeMutant;
    generation = '';
    delete switches.hitLimit;
    delete switches.hitCount;
  }
}

/** @param {Request} request */
async function answer(request) {
  if ('list' in request) return await list(request.list);
  if ('cover' in request) return await cover(request.cover);
  return await tryMutant(request.mutant, request.tests, request);
}

process.on('message', async (/** @type {Request} */ request) => {
  const result = await answer(request);
  process.send?.({ result, rssMb: process.memoryUsage.rss() / 1_048_576 });
});
process.on('disconnect', () => process.exit());
