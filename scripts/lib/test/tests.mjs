import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { capture, watched } from '../command.mjs';
import { modernNode, toolEnvironment } from '../node.mjs';
import { readSeconds, unsteadyRecord, writeSeconds } from './records.mjs';
import { runUnit } from './run-unit.mjs';
import { workThrough } from './schedule.mjs';
import { unitsOf } from './units.mjs';
import { mayRunAgain, note } from './unsteady.mjs';

/**
 * @typedef {import('./tally.mjs').Tally} Tally
 * @typedef {import('./tally.mjs').FileResult} FileResult
 * @typedef {{ limitSeconds?: number, atOnce?: number, prepared?: Promise<unknown>, print: (line: string) => void }} Options
 * @typedef {{ code: number, tally: Tally, results: ReadonlyMap<string, FileResult> }} Outcome
 */

/** With more failed files than these something is broken, and a second run would only repeat it. */
const MOST_AGAIN = 10;
const LIMIT_SECONDS = 400;

/**
 * A whole run. Each failed file runs once more, alone. A file that fails only under load is recorded, and fails the run
 * if it did so recently. Files that no load affects run once.
 * @param {string} root
 * @param {readonly string[]} files
 * @param {Options} options
 * @returns {Promise<Outcome>}
 */
export async function runTestsTwice(root, files, options) {
  return await inOneRun(root, async () => {
    const first = await run(root, unitsOf(root, files, readSeconds()), options);
    writeSeconds(first.values(), (file) => existsSync(path.join(root, file)));
    const failed = failedOf(first);
    const again = failed.length > MOST_AGAIN ? [] : failed.filter(mayRunAgain);
    if (again.length > 0) options.print(`# ${again.length} files failed: running each again, alone`);
    const second = await run(root, again.map(alone), { ...options, atOnce: 1 });
    const unsteady = again.filter((name) => second.get(name)?.ok);
    if (unsteady.length > 0) options.print(`# passed only when run alone: ${unsteady.join(', ')}`);
    const firstFailure = (/** @type {string} */ file) => first.get(file)?.failures[0]?.path ?? '';
    const entries = unsteady.map((file) => ({ file, failure: firstFailure(file) }));
    const twice = note(unsteadyRecord(), await presentRun(root), entries);
    if (twice.length > 0) options.print(`# more than once in ten runs: ${twice.join(', ')}`);
    const { code, ...rest } = outcome(new Map([...first, ...second]));
    return { ...rest, code: code || (twice.length > 0 ? 1 : 0) };
  });
}

/**
 * @param {string} root
 * @returns {Promise<import('./unsteady.mjs').Run>}
 */
async function presentRun(root) {
  const git = capture('git', ['rev-parse', '--short', 'HEAD'], { cwd: root });
  const commit = await git.then(({ stdout }) => stdout.trim()).catch(() => '');
  return { commit: commit || 'unknown', at: new Date().toISOString() };
}

/**
 * Runs test files and prints a line per file, failures in full. The code is 1 if a test failed, none ran, or, with
 * REQUIRE_ALL=1, one was skipped.
 * @param {string} root
 * @param {readonly string[]} files
 * @param {Options} options
 * @returns {Promise<Outcome>}
 */
export const runTests = (root, files, options) =>
  inOneRun(root, async () => outcome(await run(root, unitsOf(root, files, readSeconds()), options)));

/**
 * Starts shared servers early, so the first tests do not wait for them within their own time limit. The tests that need
 * one report its failure.
 * @param {string} root
 * @param {(line: string) => void} print
 */
export const prepare = (root, print) => support(root, 'before', print);

/**
 * Shared servers, such as a database server, live until the end of the run.
 * @template T
 * @param {string} root
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function inOneRun(root, work) {
  try {
    return await work();
  } finally {
    await support(root, 'after', console.error);
  }
}

/**
 * @param {string} root
 * @param {readonly import('./units.mjs').Unit[]} units
 * @param {Options} options
 * @returns {Promise<ReadonlyMap<string, FileResult>>}
 */
async function run(
  root,
  units,
  { limitSeconds = LIMIT_SECONDS, prepared = Promise.resolve(), print, ...lanes },
) {
  /** @type {Map<string, FileResult>} */
  const results = new Map();
  const options = {
    cwd: root,
    env: testEnvironment(root),
    limitSeconds,
    failSkips: process.env['REQUIRE_ALL'] === '1',
    print,
    /** @param {FileResult} file */
    onFile: (file) => {
      results.set(file.name, file);
      print(fileReport(file));
    },
  };
  await workThrough(units, {
    run: (files) => runUnit(files, options),
    prepared,
    ...lanes,
  });
  return results;
}

/**
 * Runs a module of the test support to its end, if the checkout has it.
 * @param {string} root
 * @param {'before' | 'after'} name
 * @param {(line: string) => void} print
 */
async function support(root, name, print) {
  const file = path.join(root, 'test', 'support', 'run', `${name}.ts`);
  if (!existsSync(file)) return;
  const env = testEnvironment(root);
  const stdio = /** @type {const} */ (['ignore', 'ignore', 'pipe']);
  const child = watched(() => spawn(modernNode(root), [file], { cwd: root, env, stdio: [...stdio] }));
  child.stderr.on('data', (chunk) => print(`${chunk}`.trimEnd()));
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
}

/**
 * The processes share compiled code.
 * @param {string} root
 * @returns {NodeJS.ProcessEnv}
 */
const testEnvironment = (root) => ({
  ...toolEnvironment(root),
  NODE_COMPILE_CACHE: path.join(root, '.tap', 'compile-cache'),
  TEST_RUN: `${process.pid}`,
});

/** @param {ReadonlyMap<string, FileResult>} results */
const failedOf = (results) => [...results.values()].filter(({ ok }) => !ok).map(({ name }) => name);

/**
 * @param {string} file
 * @returns {import('./units.mjs').Unit}
 */
const alone = (file) => ({ name: file, files: [file], kind: 'pure', seconds: 0 });

/**
 * @param {ReadonlyMap<string, FileResult>} results
 * @returns {Outcome}
 */
function outcome(results) {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const { counts } of results.values())
    for (const kind of /** @type {const} */ (['passed', 'failed', 'skipped'])) tally[kind] += counts[kind];
  const isRed = tally.failed > 0 || tally.passed === 0 || failedOf(results).length > 0;
  return { code: isRed ? 1 : 0, tally, results };
}

/** @param {FileResult} file */
function fileReport({ name, ok, ms, skip, failures }) {
  const verdict = skip !== null ? 'skip' : ok ? 'ok  ' : 'FAIL';
  const head = `${verdict} ${name} ${skip ?? `${(ms / 1000).toFixed(1)} s`}`;
  return [head, ...failures.map((failure) => indent(`✗ ${failure.path}\n${indent(failure.detail)}`))].join(
    '\n',
  );
}

/** @param {string} text */
const indent = (text) => text.replace(/^/gm, '  ');
