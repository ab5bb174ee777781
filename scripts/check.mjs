import { rmSync } from 'node:fs';
import path from 'node:path';
import { runChecks, staticChecks } from './lib/checks.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { pureTests } from './lib/test/units.mjs';
import { testsLeft } from './lib/unchanged/tests.mjs';
import { readTree } from './lib/unchanged/tree.mjs';

const root = path.dirname(import.meta.dirname);
/** Forgets what passed before. */
const everything = process.argv.includes('--all');

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  if (everything) rmSync(path.join(root, '.tap', 'passed'), { recursive: true, force: true });
  return (await runChecks([...staticChecks(root), { label: 'pure tests', run: runPureTests }])) === 0 ? 0 : 1;
});

async function runPureTests() {
  // the tests' dependencies may have been installed only now
  const { runTests } = await import('./lib/test/tests.mjs');
  const tests = pureTests(root);
  const { left, note } = testsLeft(root, await readTree(root), tests);
  if (left.length === 0) return { ok: true, report: '', note: 'unchanged' };
  /** @type {string[]} */
  const lines = [];
  const { code, results } = await runTests(root, left, { print: (line) => lines.push(line) });
  note(results.values());
  const report = lines.filter((line) => !/^(ok|skip) /.test(line));
  return { ok: code === 0, report: report.join('\n'), note: `${left.length} of ${tests.length} files` };
}
