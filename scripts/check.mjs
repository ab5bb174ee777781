import path from 'node:path';
import { runChecks, staticChecks } from './lib/checks.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { pureTests } from './lib/test/units.mjs';

const root = path.dirname(import.meta.dirname);

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  return (await runChecks([...staticChecks(root), { label: 'pure tests', run: runPureTests }])) === 0 ? 0 : 1;
});

async function runPureTests() {
  // the tests' dependencies may have been installed only now
  const { runTests } = await import('./lib/test/tests.mjs');
  /** @type {string[]} */
  const lines = [];
  const { code } = await runTests(root, pureTests(root), { print: (line) => lines.push(line) });
  return { ok: code === 0, report: lines.filter((line) => !/^(ok|skip) /.test(line)).join('\n') };
}
