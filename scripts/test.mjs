import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { runChecks, staticChecks } from './lib/checks.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { processorUse } from './lib/processor-use.mjs';

const root = path.dirname(import.meta.dirname);
const args = process.argv.slice(2);
const withLong = args[0] === '--all';
const everything = args.length === 0 || withLong;
const files = withLong ? [] : args.flatMap(testFiles);

await runMain(async () => {
  const use = processorUse();
  await ensureDependencies(root, { dev: true });
  const { summary } = await import('./lib/tally.mjs');
  const failed = everything ? await runChecks(staticChecks(root)) : 0;
  if (failed > 0 || (!everything && files.length === 0)) {
    console.log(summary({ passed: 0, failed, skipped: 0 }));
    return 1;
  }
  if (everything || !args.every(needsNoBuild)) await ensureBuild(root);
  const { runTests, runTestsTwice } = await import('./lib/tests.mjs');
  // the first test that needs a slow part would else wait for it within its own time limit
  const { code, tally } = everything
    ? await runTestsTwice(root, {
        config: withLong ? '.taprc-all' : '.taprc',
        env: { TEST_PREPARE: 'all' },
        print: console.log,
      })
    : await runTests(root, { args: files, print: console.log });
  if (everything) console.log(`# ${use()}`);
  console.log(summary(tally));
  return code;
});

/**
 * A folder stands for the tests in it, not for the files that support them.
 * @param {string} arg
 */
function testFiles(arg) {
  if (!statSync(arg, { throwIfNoEntry: false })?.isDirectory()) return [arg];
  const inside = readdirSync(arg, { recursive: true }).map((name) => path.join(arg, `${name}`));
  return inside.filter((file) => file.endsWith('.test.ts'));
}

/** @param {string} arg */
function needsNoBuild(arg) {
  return arg.startsWith('-') || /^test\/(domain|app|http|docs|adapters|scripts)\b/.test(arg);
}
