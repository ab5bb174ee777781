import { readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * What one process of the test run does: test files one after the other. `quick` ones need nothing beside Node.js and
 * are part of `npm run check`; `slow` ones may need a database, and `engine` ones an engine or a browser, too.
 *
 * @typedef {'quick' | 'slow' | 'engine'} Kind
 * @typedef {{ name: string, files: readonly string[], kind: Kind }} Unit
 */

/**
 * Files that share a process: loading the service takes longer than most of them. The first
 * pattern that fits counts; the largest groups come first, so that they do not run at the end by themselves.
 * @type {readonly [name: string, kind: Kind, pattern: RegExp][]}
 */
const GROUPS = [
  ['http-terminals', 'quick', /^http\/terminal/],
  ['http-recordings', 'quick', /^http\/(recording|collaborations|event)/],
  [
    'http-containers',
    'quick',
    /^http\/(containers|carry-over|disk|kept|files|warm|operation|exec|role-setup|inside|metrics)/,
  ],
  [
    'http-accounts',
    'quick',
    /^http\/(mfa|passkey|own-account|confirmation|session|sign-in|refresh|lock|revocation|throttle)/,
  ],
  ['http', 'quick', /^http\//],
  ['postgres', 'slow', /^adapters\/postgres-/],
  [
    'repositories',
    'slow',
    /^adapters\/(history|idempotency|operations|tokens|warm-pool|migrate|guests-off)\./,
  ],
  ['adapters', 'quick', /^adapters\/(memory|recording-files|screens|tmux-choice|together|unavailable)/],
  ['adapters', 'quick', /^adapters\/(input-writer|socket-timing|engine-slots|child-process|data-dir-lock)/],
  ['adapters', 'quick', /^adapters\/docker-(answers|frames|kernel-limits|nonsense|pure|streams-pure)\./],
  ['adapters', 'quick', /^adapters\/(docker-short-shares|work-turns)\./],
  ['web', 'quick', /^web\//],
  ['app', 'quick', /^app\//],
  ['domain', 'quick', /^domain\//],
  ['docs', 'quick', /^docs\//],
  ['attacks-requests', 'slow', /^attacks\/(audit-flood|hashing|unread-answers)/],
  ['attacks-containers', 'engine', /^attacks\/(archives|kernel-counters|shared-limits)/],
  ['browser-memory', 'engine', /^e2e\/(browser-limits|browser-line|passkeys)/],
  ['browser-people', 'engine', /^e2e\/browser-(programs|settings|sharing)\./],
  ['services', 'engine', /^e2e\/(no-engine|service|stopping|stopping-start)\./],
];

/**
 * What changes or measures its whole process, or would keep a group waiting.
 * @type {ReadonlyMap<string, Kind>}
 */
const ALONE = new Map([
  ['http/database-moods', 'slow'],
  ['http/property', 'slow'],
  ['app/output-log', 'quick'],
  ['adapters/audit-verify', 'slow'],
  ['adapters/embedded-checkout', 'slow'],
  ['adapters/embedded-postgres', 'slow'],
  ['adapters/volume-retention', 'slow'],
]);

/** What takes longest begins first: half a minute and more on two cores. Its order is not exact. */
const LONG = [
  'faults/kills',
  'e2e/browser-pages',
  'adapters/docker-canary',
  'faults/warm-pool-kills',
  'faults/engine',
  'faults/replicas',
  'services',
  'adapters/docker-tools',
  'faults/database',
  'attacks/hung-starts',
  'adapters/docker-files',
  'faults/terminal-lines',
  'faults/terminal-kills',
  'browser-people',
  'e2e/disk',
  'adapters/docker-terminals',
  'e2e/browser-panes',
  'faults/backup',
  'adapters/docker-volumes',
  'attacks-containers',
  'adapters/docker-carry-over',
  'adapters/docker-runtime',
  'scripts/start',
];

/**
 * All test files of a checkout, in the order of their names. Those that take long on purpose are named so.
 * @param {string} root
 * @param {{ withLong: boolean }} which
 * @returns {string[]}
 */
export function allTests(root, { withLong }) {
  const names = readdirSync(path.join(root, 'test'), { recursive: true }).map((name) => `test/${name}`);
  return names
    .filter((name) => name.endsWith('.test.ts') && (withLong || !name.endsWith('.long.test.ts')))
    .sort();
}

/**
 * The test files that need nothing beside Node.js and are quick.
 * @param {string} root
 */
export const fastTests = (root) =>
  unitsOf(allTests(root, { withLong: false }))
    .filter(({ kind }) => kind === 'quick')
    .flatMap(({ files }) => files);

/**
 * Which files share a process, in the order in which to begin.
 * @param {readonly string[]} files
 * @returns {Unit[]}
 */
export function unitsOf(files) {
  /** @type {Map<string, { name: string, files: string[], kind: Kind }>} */
  const units = new Map();
  for (const file of files) {
    const { name, kind } = unitOf(file);
    const unit = units.get(name) ?? { name, files: [], kind };
    unit.files.push(file);
    units.set(name, unit);
  }
  return [...units.values()].sort((a, b) => rank(a.name) - rank(b.name));
}

/**
 * @param {string} file
 * @returns {{ name: string, kind: Kind }}
 */
function unitOf(file) {
  const inTest = path.normalize(file).replace(/^test\//, '');
  const stem = inTest.replace(/(\.long)?\.test\.ts$/, '');
  const alone = ALONE.get(stem);
  const group = alone === undefined && GROUPS.find(([, , pattern]) => pattern.test(inTest));
  if (group) return { name: group[0], kind: group[1] };
  return { name: stem, kind: alone ?? (stem.startsWith('scripts/') ? 'slow' : 'engine') };
}

/** @param {string} name */
function rank(name) {
  const long = LONG.indexOf(name);
  if (long !== -1) return long;
  const group = GROUPS.findIndex(([one]) => one === name);
  return LONG.length + (group === -1 ? 0 : 1 + group);
}
