import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import root from 'tap';
import { runsAs } from './current-test.mjs';

// Runs the files of TEST_FILES in this process, one after the other, each as a test with the name of its file. The time
// limit of a file is TEST_LIMIT, in seconds. The runner hears which file runs, and for how long it may.

const { TEST_FILES = '', TEST_LIMIT = '' } = process.env;
const files = TEST_FILES.split('\n');
const limitMs = Number(TEST_LIMIT) * 1000;
/** A process that is done may have connections to close. */
const END_WITHIN_MS = 60_000;
const OUR_TAP = new URL('current-test.mjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap' && context.parentURL !== OUR_TAP
      ? { url: OUR_TAP, shortCircuit: true }
      : next(specifier, context),
});
// without a runner nobody reads the results
process.once('disconnect', () => process.exit(1));
root.setTimeout(0);

for (const file of files) {
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
  // What a file whose time was up has left running must not meet the next one.
  if (performance.now() >= deadline) process.exit(1);
}
process.send?.({ file: null, limitMs: END_WITHIN_MS });
