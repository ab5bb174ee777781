import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { runChecks, staticChecks } from './lib/checks.mjs';
import { Fault, runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { processorUse } from './lib/test/processor-use.mjs';
import { cacheFolder } from './lib/test/records.mjs';
import { allTests } from './lib/test/units.mjs';
import { restoreCheckRecords, saveCheckRecords } from './lib/unchanged/check-cache.mjs';

const root = path.dirname(import.meta.dirname);
const given = process.argv.slice(2);
const args = given.filter((arg) => !arg.startsWith('--'));
const withLong = given.includes('--all');
const everything = args.length === 0;
/** `--jobs=1` runs one test process at a time. */
const jobs = Number(given.find((arg) => arg.startsWith('--jobs='))?.slice('--jobs='.length)) || undefined;
/** The limit of a deliberately long file. */
const LONG_LIMIT_SECONDS = 3600;

await runMain(async () => {
  const use = processorUse();
  const files = everything ? allTests(root, { withLong }) : args.flatMap(testFiles);
  await ensureDependencies(root, { dev: true, cache: cacheFolder() });
  const { summary } = await import('./lib/test/tally.mjs');
  const { prepare, runTests, runTestsTwice } = await import('./lib/test/tests.mjs');
  const prepared = everything ? prepare(root, console.log) : Promise.resolve();
  const failed = everything ? await check() : 0;
  if (failed > 0 || files.length === 0) {
    console.log(summary({ passed: 0, failed, skipped: 0 }));
    return 1;
  }
  if (!files.every(needsNoBuild)) await ensureBuild(root, { typesAreChecked: everything });
  if (withLong) process.env['THOROUGH'] = '1';
  const isLong = withLong || files.some((file) => file.endsWith('.long.test.ts'));
  const options = {
    prepared,
    print: console.log,
    ...(jobs !== undefined && { atOnce: jobs }),
    ...(isLong && { limitSeconds: LONG_LIMIT_SECONDS }),
  };
  const { code, tally } = await (everything ? runTestsTwice : runTests)(root, files, options);
  if (everything) console.log(`# ${use()}`);
  console.log(summary(tally));
  return code;
});

/** Returns the number of static checks that failed. */
async function check() {
  restoreCheckRecords(root, cacheFolder());
  const failed = await runChecks(staticChecks(root));
  if (failed === 0) saveCheckRecords(root, cacheFolder());
  return failed;
}

/**
 * A folder means its test files, not its support files.
 * @param {string} arg
 */
function testFiles(arg) {
  const found = statSync(arg, { throwIfNoEntry: false });
  if (found === undefined) throw new Fault(`${arg} does not exist: name test files or folders`);
  if (!found.isDirectory()) return [arg];
  const inside = readdirSync(arg, { recursive: true }).map((name) => path.join(arg, `${name}`));
  return inside.filter((file) => file.endsWith('.test.ts')).sort();
}

/** @param {string} file */
function needsNoBuild(file) {
  return /^test\/(domain|app|http|docs|adapters|cli|client|scripts)\b/.test(path.normalize(file));
}
