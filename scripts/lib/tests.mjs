import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { exitCode, watch } from './command.mjs';
import { toolEnvironment } from './node.mjs';
import { tallying } from './tally.mjs';

/**
 * @typedef {import('./tally.mjs').Tally} Tally
 * @typedef {{ args?: readonly string[], config?: string, env?: NodeJS.ProcessEnv, print: (line: string) => void }} Options
 * @typedef {{ code: number, tally: Tally, failed: { name: string, counts: Tally }[] }} Outcome
 */

/** With more files than these something is broken, and a second run would only say so again. */
const MOST_AGAIN = 10;

/**
 * Runs the tests, and each file that failed once more, alone: what fails only beside other load is named, and does
 * not count as failed.
 * @param {string} root
 * @param {Options} options
 * @returns {Promise<Outcome>}
 */
export async function runTestsTwice(root, options) {
  const first = await runTests(root, options);
  const names = first.failed.map(({ name }) => name);
  if (names.length === 0 || names.length > MOST_AGAIN) return first;
  options.print(`# ${names.length} of the files failed: each once more, alone`);
  const second = await runTests(root, { ...options, args: ['--jobs=1', ...names] });
  const stillFailed = new Set(second.failed.map(({ name }) => name));
  const unsteady = names.filter((name) => !stillFailed.has(name));
  if (unsteady.length > 0) options.print(`# passed only when run alone: ${unsteady.join(', ')}`);
  const before = first.failed.reduce((tally, { counts }) => add(tally, counts, -1), first.tally);
  const tally = add(before, second.tally, 1);
  return { ...second, tally, code: second.code || (tally.failed > 0 ? 1 : 0) };
}

/**
 * @param {Tally} to
 * @param {Tally} counts
 * @param {1 | -1} sign
 * @returns {Tally}
 */
const add = (to, counts, sign) => ({
  passed: to.passed + sign * counts.passed,
  failed: to.failed + sign * counts.failed,
  skipped: to.skipped + sign * counts.skipped,
});

/**
 * Runs tap over the files of a configuration, one line a file, and what failed in full. The code is tap's own, and
 * 1 when nothing ran, when a file gave no result, and with REQUIRE_ALL=1 when anything was skipped.
 * @param {string} root
 * @param {Options} options
 * @returns {Promise<Outcome>}
 */
export function runTests(root, { args = [], config = '.taprc', env = {}, print }) {
  const tap = path.join(root, 'node_modules', '.bin', 'tap');
  const environment = { ...toolEnvironment(root), TAP_RCFILE: config, ...env };
  const child = spawn(tap, ['--reporter=tap', ...args], {
    cwd: root,
    env: { ...environment, NODE_COMPILE_CACHE: compileCache(root) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  watch(child);
  /** @type {Outcome['failed']} */
  const failed = [];
  /** @type {Set<string>} */
  const reported = new Set();
  /** @param {import('./tally.mjs').FileResult} file */
  const report = (file) => {
    print(fileReport(file));
    if (!existsSync(path.join(root, file.name))) return;
    reported.add(file.name);
    if (!file.ok) failed.push(file);
  };
  const { parser, tally } = tallying(report, { failSkips: process.env['REQUIRE_ALL'] === '1' });
  let planned = 0;
  parser.on('plan', ({ end }) => {
    planned = end ?? 0;
  });
  child.stdout.pipe(parser);
  child.stderr.on('data', (chunk) => print(`${chunk}`.trimEnd()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      // What tap complains of takes the place of a file in its plan, and the last file gives no result.
      const files = signal === null && reported.size < planned ? listFiles(tap, args, root, environment) : [];
      for (const name of files.filter((file) => !reported.has(file))) {
        tally.failed += 1;
        report(withoutResult(name));
      }
      const isRed = tally.failed > 0 || tally.passed === 0;
      resolve({ code: exitCode(code, signal) || (isRed ? 1 : 0), tally, failed });
    });
  });
}

/**
 * @param {string} tap
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
function listFiles(tap, args, cwd, env) {
  const listed = execFileSync(tap, ['list', ...args], { cwd, env, encoding: 'utf8' });
  return listed.split('\n').filter((line) => line.endsWith('.ts'));
}

/**
 * @param {string} name
 * @returns {import('./tally.mjs').FileResult}
 */
const withoutResult = (name) => ({
  name,
  ok: false,
  ms: 0,
  skip: null,
  failures: [{ path: name, detail: 'it gave no result' }],
  counts: { passed: 0, failed: 1, skipped: 0 },
});

/**
 * Each test file is a process that loads most of the service: what one has compiled, the others take over.
 * @param {string} root
 */
const compileCache = (root) => path.join(root, '.tap', 'compile-cache');

/** @param {import('./tally.mjs').FileResult} file */
function fileReport({ name, ok, ms, skip, failures }) {
  const verdict = skip !== null ? 'skip' : ok ? 'ok  ' : 'FAIL';
  const head = `${verdict} ${name} ${skip ?? `${(ms / 1000).toFixed(1)} s`}`;
  return [head, ...failures.map((failure) => indent(`✗ ${failure.path}\n${indent(failure.detail)}`))].join(
    '\n',
  );
}

/** @param {string} text */
const indent = (text) => text.replace(/^/gm, '  ');
