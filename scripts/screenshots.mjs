import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuild } from './lib/build.mjs';
import { Fault, runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';

const root = path.dirname(import.meta.dirname);
const USAGE =
  'usage: npm run screenshots [-- --only <text in names, separated by commas>] [--out <folder outside the repository>] [--unchecked]';
const LIMIT_SECONDS = 3600;

await runMain(async () => {
  const { only, out, unchecked } = options();
  if (!path.relative(root, out).startsWith('..')) throw new Fault(`${out} is in the repository. ${USAGE}`);
  await ensureDependencies(root, { dev: true });
  const { summary } = await import('./lib/test/tally.mjs');
  const { runTests } = await import('./lib/test/tests.mjs');
  await ensureBuild(root, { typesAreChecked: false });
  process.env['SCREENS_ONLY'] = only;
  process.env['SCREENS_OUT'] = out;
  // Half of the time is that of the checks for accessibility.
  if (unchecked) process.env['SCREENS_UNCHECKED'] = 'yes';
  const file = 'test/e2e/screens/screens.long.test.ts';
  const { code, tally } = await runTests(root, [file], { print: console.log, limitSeconds: LIMIT_SECONDS });
  console.log(`${summary(tally)}\nThe pictures: ${path.join(out, 'index.html')}`);
  return code;
});

function options() {
  try {
    const known = /** @type {const} */ ({
      only: { type: 'string' },
      out: { type: 'string' },
      unchecked: { type: 'boolean' },
    });
    const { values } = parseArgs({ options: known });
    const { only = '', out = path.join(tmpdir(), 'berth-screenshots'), unchecked = false } = values;
    return { only, out: path.resolve(out), unchecked };
  } catch (error) {
    throw new Fault(`${/** @type {Error} */ (error).message}. ${USAGE}`);
  }
}
