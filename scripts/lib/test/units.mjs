import { readdirSync } from 'node:fs';
import path from 'node:path';
import { kindOf } from './needs.mjs';
import { mayRunAgain } from './unsteady.mjs';

/**
 * The work of one test process: files of one kind, in turn, and of one folder of `test` if they need an engine.
 * @typedef {import('./needs.mjs').Kind} Kind
 * @typedef {{ name: string, files: readonly string[], kind: Kind, seconds: number }} Unit
 * @typedef {ReadonlyMap<string, number>} Seconds How long each file took the last time.
 */

const OF_CLUSTERS = ['test/kubernetes/', 'test/swarm/'];

/** These measure their whole process, or stop it: memory, event loop, descriptors. */
export const ALONE = new Set([
  'adapters/postgres/audit-verify',
  'app/terminals/output-log',
  'http/database-faults',
  'http/property',
]);

/** Estimated seconds per file, by kind, until a run on this machine has measured them. */
const USUAL_SECONDS = { pure: 0.7, database: 4, engine: 15 };
/** Files that take far longer than their kind, on two cores. */
const LONG_SECONDS = new Map([
  ['faults/engine', 83],
  ['faults/replicas', 75],
  ['e2e/disk', 70],
  ['faults/database', 63],
  ['e2e/browser/pages', 47],
  ['attacks/hung-starts', 40],
  ['faults/kills', 38],
  ['adapters/postgres/sign-in', 38],
  ['adapters/docker/terminals/terminals', 37],
  ['adapters/docker/containers/runtime', 34],
  ['faults/backup', 32],
  ['faults/agent-line', 30],
  ['adapters/docker/terminals/tools', 30],
]);

/**
 * Files share a process up to this total. A smaller one starts more processes, and each loads 2,000 modules in 1.5 s.
 * With a larger one, the last process would delay the end of the run.
 */
const SHARED_SECONDS = { pure: 30, database: 60, engine: 120 };
/** A process may take this share of all pure files, so that slow recorded times do not give each file its own. */
const PURE_SHARE = 1 / 6;

/**
 * All test files of a checkout, by name. `.long.test.ts` marks deliberately long ones. Those of real clusters have
 * commands of their own.
 * @param {string} root
 * @param {{ withLong: boolean }} which
 * @returns {string[]}
 */
export function allTests(root, { withLong }) {
  const names = readdirSync(path.join(root, 'test'), { recursive: true }).map((name) => `test/${name}`);
  return names
    .filter((name) => name.endsWith('.test.ts') && !OF_CLUSTERS.some((folder) => name.startsWith(folder)))
    .filter((name) => withLong || !name.endsWith('.long.test.ts'))
    .sort();
}

/**
 * The test files that need only Node.js.
 * @param {string} root
 */
export const pureTests = (root) =>
  allTests(root, { withLong: false }).filter((file) => kindOf(root, file) === 'pure');

/**
 * Groups files into processes, the longest first.
 * @param {string} root
 * @param {readonly string[]} files
 * @param {Seconds} [seconds]
 * @returns {Unit[]}
 */
export function unitsOf(root, files, seconds = new Map()) {
  /** @type {Unit[]} */
  const units = [];
  /** @type {Map<string, Unit>} */
  const open = new Map();
  const single = files.map((file) => unitOf(root, file, seconds));
  const shared = { ...SHARED_SECONDS, pure: pureShare(single) };
  for (const one of single) {
    const group = groupOf(one);
    const last = ALONE.has(one.name) ? undefined : open.get(group);
    const hasRoom = last !== undefined && last.seconds + one.seconds <= shared[one.kind];
    const unit = hasRoom ? joined(last, one) : one;
    if (hasRoom) units.splice(units.indexOf(last), 1);
    units.push(unit);
    if (!ALONE.has(one.name)) open.set(group, unit);
  }
  return units.sort((a, b) => b.seconds - a.seconds);
}

/**
 * Files of a group may share a process. Files that get no second run share none with others: leftovers could fail them
 * for good.
 * @param {Unit} unit A single file.
 */
function groupOf({ kind, name, files }) {
  if (kind === 'engine') return `engine ${name.split('/')[0]}`;
  return `${kind} ${files.every(mayRunAgain) ? 'again' : 'once'}`;
}

/** @param {readonly Unit[]} single */
function pureShare(single) {
  const pure = single.filter(({ kind }) => kind === 'pure').map(({ seconds }) => seconds);
  return Math.max(SHARED_SECONDS.pure, PURE_SHARE * pure.reduce((sum, one) => sum + one, 0));
}

/**
 * @param {Unit} unit
 * @param {Unit} one
 * @returns {Unit}
 */
const joined = (unit, one) => ({
  ...unit,
  files: [...unit.files, ...one.files],
  seconds: unit.seconds + one.seconds,
});

/**
 * @param {string} root
 * @param {string} file
 * @param {Seconds} known
 * @returns {Unit}
 */
function unitOf(root, file, known) {
  const name = path
    .normalize(file)
    .replace(/^test\//, '')
    .replace(/(\.long)?\.test\.ts$/, '');
  const kind = kindOf(root, file);
  const usual = LONG_SECONDS.get(name) ?? USUAL_SECONDS[kind];
  return { name, files: [file], kind, seconds: known.get(file) ?? usual };
}
