import t, { type Test } from 'tap';
import { runProcess } from '../support/child.ts';
import { aTree } from '../support/tree.ts';

const CONFIG = 'type-strip-only: true\ndisable-coverage: true\njobs: 2\ntimeout: 20\n';

/** What `npm test -- <files>` says in a checkout with these test files. */
async function run(t: Test, tests: Readonly<Record<string, string>>) {
  const files = Object.fromEntries(
    Object.entries(tests).map(([name, code]) => [`test/domain/${name}.test.ts`, code]),
  );
  const imported = Object.entries(files).map(([name, code]) => [name, `import t from 'tap';\n${code}\n`]);
  const root = aTree(t, { '.taprc': CONFIG, ...Object.fromEntries(imported) });
  const child = runProcess(t, process.execPath, ['scripts/test.mjs', 'test/domain'], root);
  const lines: string[] = [];
  for (let line = await next(child); line !== null; line = await next(child)) lines.push(line);
  return { code: await child.ended, last: lines.at(-1), all: lines.join('\n') };
}

const next = (child: ReturnType<typeof runProcess>): Promise<string | null> => child.line().catch(() => null);

t.test('innermost tests are counted, not assertions, and the sum is the last line', async (t) => {
  const result = await run(t, {
    many: "t.test('outer', async (t) => { t.test('a', async (t) => { t.ok(1); t.ok(2); }); t.test('b', async (t) => t.ok(3)); });",
    bare: 't.ok(true);',
    skipped:
      "t.test('c', async (t) => { t.pass('c', { skip: 'no engine' }); }); t.test('d', async (t) => t.ok(1));",
  });
  t.match(result, { code: 0, last: '4 passed, 0 failed, 1 skipped' });
});

t.test('what failed is named, with its reason', async (t) => {
  const result = await run(t, {
    good: "t.test('fine', async (t) => t.ok(1));",
    bad: "t.test('outer', async (t) => { t.test('sums', async (t) => { t.equal(1 + 1, 3, 'two and'); t.ok(1); }); });",
  });
  t.match(result, { code: 1, last: '1 passed, 1 failed' });
  t.match(result.all, /✗ test\/domain\/bad\.test\.ts > outer > sums > two and\n.*-3\n *\+2/s);
});

t.test('a file that dies counts as a failure, however much of it had passed', async (t) => {
  const result = await run(t, {
    killed:
      "t.test('fine', async (t) => t.ok(1)); t.test('dies', async () => process.kill(process.pid, 'SIGKILL'));",
    thrown: "throw new Error('at import');",
  });
  t.match(result, { code: 1, last: '1 passed, 2 failed' });
  t.match(result.all, /at import/);
});

t.test('a run of no tests fails', async (t) => {
  t.match(await run(t, {}), { code: 1, last: '0 passed, 0 failed' });
});
