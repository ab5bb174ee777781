import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { failRunningTest } from './uncaught.mjs';

// Runs the files of TEST_FILES in this process, in turn, each as a test named after it. TEST_LIMIT is the limit per
// file in seconds. The runner is told which file runs and its limit.

const { TEST_FILES = '', TEST_LIMIT = '' } = process.env;
const files = TEST_FILES.split('\n');
const limitMs = Number(TEST_LIMIT) * 1000;
/** Time to close connections after the last file. */
const END_WITHIN_MS = 60_000;
/** What the tests left open, such as a timer, keeps the process for no longer than this. */
const DRAIN_MS = 1000;
/** Open in some test processes from the start, or later, without a test that opens it. */
const OWN_KINDS = new Set(['TTYWrap', 'MessagePort']);
const OUR_TAP = new URL('current-test.mjs', import.meta.url).href;
/** @type {Record<string, string>} */
const REPLACED = { tap: OUR_TAP, 'async-hook-domain': new URL('uncaught.mjs', import.meta.url).href };
const UNREPLACED_IN = new Set([OUR_TAP, import.meta.url]);

registerHooks({
  resolve: (specifier, context, next) => {
    const url = REPLACED[specifier];
    return url === undefined || UNREPLACED_IN.has(context.parentURL ?? '')
      ? next(specifier, context)
      : { url, shortCircuit: true };
  },
});
// imported only now, so that the hooks apply to them
const { default: root } = await import('tap');
const { runsAs } = await import('./current-test.mjs');
failRunningTest(root);
// without the runner nobody reads the results
process.once('disconnect', () => process.exit(1));
root.setTimeout(0);

/** For each file, the kinds of resources of which more were open after it than before. */
/** @type {[file: string, kinds: string[]][]} */
const grown = [];
// why: these pipes of the process open when they are first used
void [process.stdout, process.stderr];
const ownResources = openResources();

for (const file of files) {
  const before = openResources();
  let deadline = Number.POSITIVE_INFINITY;
  /** @param {number} ms */
  const limit = (ms) => {
    deadline = performance.now() + ms;
    process.send?.({ file, limitMs: ms });
  };
  await root.test(file, async (t) => {
    limit(limitMs);
    t.setTimeout(limitMs);
    runsAs(t, limit);
    await import(pathToFileURL(path.resolve(file)).href);
  });
  // leftovers of a file that exceeded its limit must not affect the next one
  if (performance.now() >= deadline) process.exit(1);
  const after = openResources();
  grown.push([file, grownKinds(before, after)]);
}
process.send?.({ file: null, limitMs: END_WITHIN_MS });
root.end();
setTimeout(() => {
  const open = grownKinds(ownResources, openResources());
  for (const [file, kinds] of grown) {
    const left = kinds.filter((kind) => open.includes(kind));
    if (left.length > 0) console.error(`# ${file} may have left open: ${left.join(', ')}`);
  }
  const rest = open.filter((kind) => !grown.some(([, kinds]) => kinds.includes(kind)));
  if (rest.length > 0) console.error(`# open after the last file, opened during none: ${rest.join(', ')}`);
  process.exit();
}, DRAIN_MS).unref();

/**
 * @param {Map<string, number>} before
 * @param {Map<string, number>} after
 */
function grownKinds(before, after) {
  return [...after.keys()].filter((kind) => count(after, kind) > count(before, kind));
}

/** The number of open resources of each kind, such as `Timeout`. */
function openResources() {
  /** @type {Map<string, number>} */
  const open = new Map();
  for (const kind of process.getActiveResourcesInfo())
    if (!OWN_KINDS.has(kind)) open.set(kind, count(open, kind) + 1);
  return open;
}

/**
 * @param {Map<string, number>} open
 * @param {string} kind
 */
function count(open, kind) {
  return open.get(kind) ?? 0;
}
