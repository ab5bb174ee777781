import { readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * What one process of the test run does: test files one after the other. `needs` is the most that any of them needs
 * beside Node.js.
 *
 * @typedef {'nothing' | 'database' | 'engine'} Need
 * @typedef {{ name: string, files: readonly string[], needs: Need }} Unit
 */

/**
 * Files that share a process, and what they need: loading the service takes longer than most of them. The first
 * pattern that fits counts; the largest groups come first, so that they do not run at the end by themselves.
 * @type {readonly [name: string, needs: Need, pattern: RegExp][]}
 */
const GROUPS = [
  ['http-terminals', 'nothing', /^http\/terminal/],
  ['http-recordings', 'nothing', /^http\/(recording|collaborations|event)/],
  [
    'http-containers',
    'nothing',
    /^http\/(containers|carry-over|catalogue|disk|kept|kernel|files|idempot|warm)/,
  ],
  [
    'http-operations',
    'nothing',
    /^http\/(operation|lost-commits|exec|role-setup|inside|draining|readyz|metrics)/,
  ],
  ['http-factors', 'nothing', /^http\/(factor|mfa|passkey|ssh-keys|password|confirmation)/],
  [
    'http-sessions',
    'nothing',
    /^http\/(session|sign-in|refresh|lock|auto-lock|revocation|throttle|key-rotation)/,
  ],
  ['http-rights', 'nothing', /^http\/(access|admin|audit|guest|users|settings|tokens|use-limits|routes)/],
  ['http', 'nothing', /^http\//],
  ['postgres', 'database', /^adapters\/postgres-/],
  [
    'repositories',
    'database',
    /^adapters\/(history|idempotency|operations|tokens|warm-pool|migrate|guests-off)\./,
  ],
  ['adapters', 'nothing', /^adapters\/(memory|recording-files|screens|tmux-choice|together|unavailable)/],
  ['adapters', 'nothing', /^adapters\/(input-writer|socket-timing|engine-slots|child-process|data-dir-lock)/],
  ['adapters', 'nothing', /^adapters\/docker-(answers|frames|kernel-limits|nonsense|pure|streams-pure)\./],
  ['adapters', 'nothing', /^adapters\/(docker-short-shares|work-turns)\./],
  ['web', 'nothing', /^web\//],
  ['app', 'nothing', /^app\//],
  ['domain', 'nothing', /^domain\//],
  ['docs', 'nothing', /^docs\//],
];

/**
 * What changes or measures its whole process, or would keep a group waiting.
 * @type {ReadonlyMap<string, Need>}
 */
const ALONE = new Map([
  ['http/busy-loop', 'database'],
  ['http/database-moods', 'database'],
  ['http/property', 'nothing'],
  ['http/login-token', 'nothing'],
  ['http/connection-limit', 'nothing'],
  ['http/unread-answers', 'nothing'],
  ['app/output-log', 'nothing'],
  ['adapters/audit-verify', 'database'],
  ['adapters/embedded-checkout', 'database'],
  ['adapters/embedded-postgres', 'database'],
  ['adapters/volume-retention', 'database'],
  ['attacks/audit-flood', 'database'],
  ['attacks/hashing', 'database'],
  ['attacks/pipelining', 'database'],
  ['attacks/unread-answers', 'database'],
]);

/** What takes longest begins first: half a minute and more on two cores. Its order is not exact. */
const LONG = [
  'faults/kills',
  'e2e/browser-pages',
  'adapters/docker-canary',
  'faults/warm-pool-kills',
  'faults/engine',
  'faults/soak',
  'e2e/stopping',
  'adapters/docker-terminal-input',
  'faults/database',
  'attacks/hung-starts',
  'adapters/docker-files',
  'faults/terminal-input',
  'faults/terminal-leftovers',
  'e2e/service',
  'e2e/disk',
  'adapters/docker-terminals',
  'e2e/browser-panes',
  'faults/restore',
  'adapters/docker-volumes',
  'e2e/browser-panes-places',
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
 * The test files that need nothing beside Node.js, and are quick.
 * @param {string} root
 */
export const fastTests = (root) =>
  unitsOf(allTests(root, { withLong: false }))
    .filter(({ needs }) => needs === 'nothing')
    .flatMap(({ files }) => files);

/**
 * Which files share a process, in the order in which to begin.
 * @param {readonly string[]} files
 * @returns {Unit[]}
 */
export function unitsOf(files) {
  /** @type {Map<string, { name: string, files: string[], needs: Need }>} */
  const units = new Map();
  for (const file of files) {
    const { name, needs } = unitOf(file);
    const unit = units.get(name) ?? { name, files: [], needs };
    unit.files.push(file);
    units.set(name, unit);
  }
  return [...units.values()].sort((a, b) => rank(a.name) - rank(b.name));
}

/**
 * @param {string} file
 * @returns {{ name: string, needs: Need }}
 */
function unitOf(file) {
  const inTest = path.normalize(file).replace(/^test\//, '');
  const stem = inTest.replace(/(\.long)?\.test\.ts$/, '');
  const alone = ALONE.get(stem);
  const group = alone === undefined && GROUPS.find(([, , pattern]) => pattern.test(inTest));
  if (group) return { name: group[0], needs: group[1] };
  return { name: stem, needs: alone ?? (stem.startsWith('scripts/') ? 'database' : 'engine') };
}

/** @param {string} name */
function rank(name) {
  const long = LONG.indexOf(name);
  if (long !== -1) return long;
  const group = GROUPS.findIndex(([one]) => one === name);
  return LONG.length + (group === -1 ? 0 : 1 + group);
}
