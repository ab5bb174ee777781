import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuild } from './lib/build.mjs';
import { Fault, runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';

const root = path.dirname(import.meta.dirname);
const USAGE =
  'usage: npm run screenshots [-- [<group, or text in names>…] [--resume] [--unchecked] [--out <folder outside the repository>]]';
const LIMIT_SECONDS = 3600;

await runMain(async () => {
  const { only, out, resume, unchecked } = options();
  if (!path.relative(root, out).startsWith('..')) throw new Fault(`${out} is in the repository. ${USAGE}`);
  await ensureDependencies(root, { dev: true });
  const { summary } = await import('./lib/test/tally.mjs');
  const { runTests } = await import('./lib/test/tests.mjs');
  await ensureBuild(root, { typesAreChecked: false });
  process.env['SCREENS_ONLY'] = only.join();
  process.env['SCREENS_OUT'] = out;
  if (resume) process.env['SCREENS_RESUME'] = 'yes';
  // A quarter of the time: no checks for accessibility, and one visit of each scene.
  if (unchecked) process.env['SCREENS_UNCHECKED'] = 'yes';
  const file = 'test/e2e/screens/screens.long.test.ts';
  const { code, tally } = await runTests(root, [file], { print: console.log, limitSeconds: LIMIT_SECONDS });
  console.log(`${summary(tally)}\nThe pictures: ${path.join(out, 'index.html')}`);
  return code;
});

function options() {
  try {
    const known = /** @type {const} */ ({
      out: { type: 'string' },
      resume: { type: 'boolean' },
      unchecked: { type: 'boolean' },
    });
    const { values, positionals } = parseArgs({ options: known, allowPositionals: true });
    const { out = path.join(tmpdir(), 'berth-screenshots'), resume = false, unchecked = false } = values;
    return { only: positionals, out: path.resolve(out), resume, unchecked };
  } catch (error) {
    throw new Fault(`${/** @type {Error} */ (error).message}. ${USAGE}`);
  }
}
