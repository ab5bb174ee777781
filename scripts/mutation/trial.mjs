import { readFileSync } from 'node:fs';
import path from 'node:path';
import { keyOf } from './report.mjs';
import { forEach } from './workers.mjs';

/**
 * @typedef {import('./mutants.mjs').Mutant} Mutant
 * @typedef {import('./survey.mjs').KnownTest} KnownTest
 * @typedef {import('./survey.mjs').Survey} Survey
 * @typedef {'killed' | 'timeout' | 'survived' | 'uncovered'} Verdict
 * @typedef {Mutant & { verdict: Verdict, by: string, cut: boolean }} Judged
 */

/** The time budget for one mutant's tests, in milliseconds of their usual time. */
const BUDGET_MS = 15_000;

/** The most tests for a mutant in module-level code: each reloads the sources. */
const MOST_ANEW = 32;

/** The most of those from files that import the module. */
const MOST_DIRECT = 20;

/** The approximate cost of reloading the sources, in milliseconds. */
const LOAD_MS = 50;

/** The most tests tried first because they killed a neighbour. */
const RECENT = 6;

/**
 * Tries every n-th mutant, or every n-th earlier survivor.
 * @param {readonly Mutant[]} mutants
 * @param {Survey} known
 * @param {{ sample: { every: number, from: number }, before: Set<string> | null, jobs: number,
 *   where: { root: string, code: string } }} options
 * @returns {Promise<Judged[]>}
 */
export async function tryAll(mutants, known, { sample, before, jobs, where }) {
  const inReach = mutants.filter((mutant) => known.loaded.has(mutant.file) && !isTrivial(mutant, known));
  const candidates = before === null ? inReach : inReach.filter((mutant) => before.has(keyOf(mutant)));
  const chosen = candidates.filter((_, at) => (at - sample.from) % sample.every === 0);
  console.log(`# ${inReach.length} mutants in reach, ${chosen.length} of them tried`);
  const unloaded = new Set(mutants.map(({ file }) => file).filter((file) => !known.loaded.has(file)));
  for (const file of unloaded) console.log(`# none of the tests loads ${file}`);
  /** @type {Map<string, KnownTest[]>} */
  const killers = new Map();
  const reachOf = reachBySource(mutants, known);
  const ofSource = testsBySource(reachOf, known);
  const importing = testsByImport(where.root, known);
  /** @type {Judged[]} */
  const judged = [];
  await forEach(chosen, jobs, where, async (mutant, worker) => {
    const reaching = known.covering.get(mutant.id) ?? [];
    const first = killers.get(mutant.file) ?? [];
    const hits = Math.max(0, ...reaching.map(({ hits }) => hits));
    const tests = reaching.map(({ test }) => test);
    const live = inBudget(order(tests, first, reachOf.get(mutant.file)));
    let outcome = await tryOne(mutant, live, { hits, worker });
    if (outcome.verdict !== 'killed' && outcome.verdict !== 'timeout' && known.fixed.has(mutant.id)) {
      const near = ofSource.get(mutant.file) ?? [];
      const direct = (importing.get(mutant.file) ?? []).slice(0, MOST_DIRECT);
      const all = [...new Set([...first, ...direct, ...near])].slice(0, MOST_ANEW);
      outcome = await tryFresh(mutant, all, { hits, worker });
    }
    const { verdict, by, cut } = outcome;
    if (by !== null) killers.set(mutant.file, [by, ...first.filter((test) => test !== by)].slice(0, RECENT));
    judged.push({ ...mutant, verdict, by: by === null ? '' : `${by.file}: ${by.name}`, cut });
    if (judged.length % 100 === 0) console.log(`# ${judged.length} of ${chosen.length}`);
  });
  return judged.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
}

/**
 * A function created at module load that becomes empty: every test that calls it notices.
 * @param {Mutant} mutant
 * @param {Survey} known
 */
const isTrivial = ({ id, operator }, { covering, fixed }) =>
  operator === 'ArrowFunction' && fixed.has(id) && !covering.has(id);

/**
 * @param {Mutant} mutant
 * @param {{ tests: readonly KnownTest[], cut: boolean }} plan
 * @param {{ hits: number, worker: ReturnType<typeof import('./workers.mjs').aWorker>, isFresh?: boolean }} options
 * @returns {Promise<{ verdict: Verdict, by: KnownTest | null, cut: boolean }>}
 */
async function tryOne({ id }, { tests, cut }, { hits, worker, isFresh = false }) {
  if (tests.length === 0) return { verdict: 'uncovered', by: null, cut };
  const extraMs = isFresh ? 10_000 : 1_500;
  const timed = tests.map(({ file, index, ms }) => ({ file, index, limitMs: extraMs + 8 * ms }));
  const request = { mutant: id, tests: timed, hitLimit: Math.max(10_000, 100 * hits), isFresh };
  const limitsMs = timed.map(({ limitMs }) => limitMs);
  let answer = await worker.request(request, limitsMs);
  // leftovers of an earlier mutant may have ended the worker
  if ('lost' in answer && answer.lost === 'crashed') answer = await worker.request(request, limitsMs);
  if ('lost' in answer) {
    return { verdict: answer.lost === 'timeout' ? 'timeout' : 'killed', by: tests[answer.at] ?? null, cut };
  }
  const { verdict, at } = answer.result;
  return { verdict, by: tests[at] ?? null, cut };
}

/**
 * Tries a mutant with all sources reloaded. A failing test counts if it passes that way without a mutant.
 * @param {Mutant} mutant
 * @param {readonly KnownTest[]} tests
 * @param {{ hits: number, worker: ReturnType<typeof import('./workers.mjs').aWorker> }} options
 */
async function tryFresh(mutant, tests, { hits, worker }) {
  for (;;) {
    const usable = inBudget(tests.filter(({ passesAnew }) => passesAnew !== false));
    const outcome = await tryOne(mutant, usable, { hits, worker, isFresh: true });
    const { by } = outcome;
    if (by === null || by.passesAnew) return outcome;
    const timed = [{ file: by.file, index: by.index, limitMs: 20_000 }];
    const control = await worker.request(
      { mutant: null, tests: timed, hitLimit: 0, isFresh: true },
      [20_000],
    );
    by.passesAnew = 'result' in control && control.result.verdict === 'survived';
  }
}

/**
 * First the tests that killed a neighbour, then quick ones that reach much of the source and little else.
 * @param {readonly KnownTest[]} tests
 * @param {readonly KnownTest[]} first
 * @param {ReadonlyMap<KnownTest, number>} [reached] how many mutants of the source each test reaches
 */
function order(tests, first, reached) {
  const rank = (/** @type {KnownTest} */ test) =>
    first.includes(test)
      ? first.indexOf(test) - RECENT
      : (test.ms * test.reach) / (reached?.get(test) ?? 1) ** 2;
  return tests.toSorted((a, b) => rank(a) - rank(b));
}

/** @param {readonly KnownTest[]} tests */
function inBudget(tests) {
  let ms = 0;
  const some = tests.filter((test) => {
    ms += test.ms;
    return ms - test.ms < BUDGET_MS;
  });
  return { tests: some, cut: some.length < tests.length };
}

/**
 * How many mutants of a source each test reaches.
 * @param {readonly Mutant[]} mutants
 * @param {Survey} known
 */
function reachBySource(mutants, { covering }) {
  /** @type {Map<string, Map<KnownTest, number>>} */
  const reaching = new Map();
  for (const { id, file } of mutants) {
    const counts = reaching.get(file) ?? new Map();
    reaching.set(file, counts);
    for (const { test } of covering.get(id) ?? []) counts.set(test, (counts.get(test) ?? 0) + 1);
  }
  return reaching;
}

/**
 * The tests for module-level code: those that reach much of the source and little else first, then the rest of their
 * files.
 * @param {ReturnType<typeof reachBySource>} reachOf
 * @param {Survey} known
 */
function testsBySource(reachOf, { tests }) {
  const inFile = Map.groupBy(tests, ({ file }) => file);
  return new Map(
    [...reachOf].map(([source, counts]) => {
      const rank = (/** @type {KnownTest} */ test) =>
        ((test.ms + LOAD_MS) * test.reach) / (counts.get(test) ?? 1);
      const near = [...counts.keys()].sort((a, b) => rank(a) - rank(b));
      const files = new Set(near.map(({ file }) => file));
      const others = [...files].flatMap((file) => inFile.get(file) ?? []).filter((test) => !counts.has(test));
      return [source, [...near, ...others]];
    }),
  );
}

/**
 * The tests of files that import a source, the quickest first.
 * @param {string} root
 * @param {Survey} known
 */
function testsByImport(root, { tests }) {
  /** @type {Map<string, KnownTest[]>} */
  const importing = new Map();
  for (const [file, ofFile] of Map.groupBy(tests, ({ file }) => file)) {
    const text = readFileSync(path.join(root, file), 'utf8');
    const named = [...text.matchAll(/ from '(\.[^']+\.ts)'/g)].map(([, to = '']) =>
      path.join(file, '..', to),
    );
    for (const source of named) importing.set(source, [...(importing.get(source) ?? []), ...ofFile]);
  }
  for (const some of importing.values()) some.sort((a, b) => a.ms - b.ms);
  return importing;
}
