import { spawn } from 'node:child_process';
import path from 'node:path';
import { killGroup, watched } from '../command.mjs';
import { modernNode } from '../node.mjs';
import { tallying } from './tally.mjs';

/**
 * @typedef {import('node:child_process').ChildProcess} ChildProcess
 * @typedef {import('./tally.mjs').FileResult} FileResult
 * @typedef {{ cwd: string, env: NodeJS.ProcessEnv, limitSeconds: number, failSkips: boolean, onFile: (file: FileResult) => void, print: (line: string) => void }} Options
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} End
 */

const UNIT_PROCESS = path.join(import.meta.dirname, 'unit-process.mjs');
/** The services of tests live shortly. With more room for young objects, collecting takes a tenth less of a process's time. */
const YOUNG = ['--min-semi-space-size=32', '--max-semi-space-size=64'];
/** A busy machine may take long to load the first file's imports. */
const START_WITHIN_MS = 120_000;
/** Grace after the time limit, so a process can report where it was: as long again, at most this. */
const KILL_AFTER_MS = 15_000;

/**
 * Runs test files in one process and reports each as it ends. If the process dies, its current file fails and the files
 * not yet started are returned.
 * @param {readonly string[]} files
 * @param {Options} options
 * @returns {Promise<readonly string[]>}
 */
export async function runUnit(files, { cwd, env, limitSeconds, failSkips, onFile, print }) {
  /** @type {Map<string, FileResult>} */
  const results = new Map();
  /** @param {FileResult} result */
  const report = (result) => {
    results.set(result.name, result);
    onFile(result);
  };
  const { parser, unfinished } = tallying(report, { failSkips });
  // not as arguments: tap would use them in folder names
  const unitEnvironment = { ...env, TEST_FILES: files.join('\n'), TEST_LIMIT: `${limitSeconds}` };
  const child = watched(() =>
    spawn(modernNode(cwd), [...YOUNG, UNIT_PROCESS], {
      cwd,
      env: unitEnvironment,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    }),
  );
  const current = watchdog(child);
  child.stdout?.pipe(parser);
  child.stderr?.on('data', (chunk) => print(`${chunk}`.trimEnd()));
  // the tests' children end with them
  child.once('exit', () => killGroup(child, 'SIGKILL'));
  const end = await ended(child);
  const left = files.filter((file) => !results.has(file));
  const rest = unfinished();
  const died = left.find((file) => file === current()) ?? (results.size === 0 ? left[0] : undefined);
  if (died !== undefined) report(failure(died, rest, end));
  else if (left.length === 0) reportEnd(results, rest, end, report);
  return left.filter((file) => file !== died);
}

/**
 * Output or a crash after the last file is that file's failure, unless another file failed.
 * @param {ReadonlyMap<string, FileResult>} results
 * @param {Pick<FileResult, 'failures' | 'counts'>} rest
 * @param {End} end
 * @param {(result: FileResult) => void} report
 */
function reportEnd(results, rest, end, report) {
  const all = [...results.values()];
  const last = all.at(-1);
  const isAsExpected = end.signal === null && (end.code === 0 || all.some(({ ok }) => !ok));
  if (last === undefined || (isAsExpected && rest.failures.length === 0)) return;
  const counts = { ...last.counts, failed: last.counts.failed + rest.counts.failed };
  report(failure(last.name, { failures: [...last.failures, ...rest.failures], counts }, end));
}

/**
 * @param {string} name
 * @param {Pick<FileResult, 'failures' | 'counts'>} seen
 * @param {End} end
 * @returns {FileResult}
 */
function failure(name, { failures, counts }, { code, signal }) {
  const how = { path: name, detail: `its process ended with ${signal ?? code}` };
  const failed = Math.max(1, counts.failed);
  return { name, ok: false, ms: 0, skip: null, failures: [...failures, how], counts: { ...counts, failed } };
}

/**
 * Kills a process whose file exceeds its time limit. The result names the running file.
 * @param {ChildProcess} child
 * @returns {() => string | null}
 */
function watchdog(child) {
  const kill = () => killGroup(child, 'SIGKILL');
  let timer = setTimeout(kill, START_WITHIN_MS);
  /** @type {string | null} */
  let current = null;
  child.on('message', (/** @type {{ file?: string | null, limitMs: number }} */ { file, limitMs }) => {
    if (file === undefined) return;
    current = file;
    clearTimeout(timer);
    timer = setTimeout(kill, limitMs + Math.min(limitMs, KILL_AFTER_MS));
  });
  child.once('exit', () => clearTimeout(timer)).once('error', () => clearTimeout(timer));
  return () => current;
}

/**
 * @param {ChildProcess} child
 * @returns {Promise<End>}
 */
const ended = (child) =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
