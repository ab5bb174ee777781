import { writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { type Child, runProcess } from '../support/child.ts';
import { aTree } from '../support/tree.ts';

const CONFIG = 'type-strip-only: true\ndisable-coverage: true\njobs: 2\ntimeout: 20\n';

/** What `npm test -- <files>` says in a checkout with these test files. */
async function run(t: Test, tests: Readonly<Record<string, string>>, { requireAll = false } = {}) {
  const files = Object.fromEntries(
    Object.entries(tests).map(([name, code]) => [`test/domain/${name}.test.ts`, code]),
  );
  const imported = Object.entries(files).map(([name, code]) => [name, `import t from 'tap';\n${code}\n`]);
  const root = aTree(t, { '.taprc': CONFIG, ...Object.fromEntries(imported) });
  const command = [`REQUIRE_ALL=${requireAll ? 1 : 0}`, process.execPath, 'scripts/test.mjs', 'test/domain'];
  const child = runProcess(t, '/usr/bin/env', command, root);
  const lines = await linesOf(child);
  return { code: await child.ended, last: lines.at(-1), all: lines.join('\n') };
}

async function linesOf(child: Child): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await next(child); line !== null; line = await next(child)) lines.push(line);
  return lines;
}

const next = (child: Child): Promise<string | null> => child.line().catch(() => null);

t.test('innermost tests are counted, not assertions, and the sum is the last line', async (t) => {
  const result = await run(t, {
    many: "t.test('outer', async (t) => { t.test('a', async (t) => { t.ok(1); t.ok(2); }); t.test('b', async (t) => t.ok(3)); });",
    bare: 't.ok(true);',
    skipped:
      "t.test('c', async (t) => { t.pass('c', { skip: 'no engine' }); }); t.test('d', async (t) => t.ok(1));",
  });
  t.match(result, { code: 0, last: '4 passed, 0 failed, 1 skipped' });
});

t.test('with REQUIRE_ALL=1 whatever is skipped counts as failed, with its reason', async (t) => {
  const tests = {
    assertion: "t.test('c', async (t) => { t.pass('c', { skip: 'no engine' }); t.ok(1); });",
    option: "t.test('d', { skip: 'needs root' }, async (t) => t.ok(1));",
    good: "t.test('e', async (t) => t.ok(1));",
  };
  t.match(await run(t, tests), { code: 0 });
  const strict = await run(t, tests, { requireAll: true });
  t.match(strict, { code: 1, last: '1 passed, 2 failed' });
  t.match(strict.all, /FAIL test\/domain\/assertion\.test\.ts.*\n.*> c > c\n.*skipped: \n *no engine/);
  t.match(strict.all, /FAIL test\/domain\/option\.test\.ts.*\n.*> d\n.*skipped: \n *needs root/);
});

t.test('what failed is named, with its reason', async (t) => {
  const result = await run(t, {
    good: "t.test('fine', async (t) => t.ok(1));",
    bad: "t.test('outer', async (t) => { t.test('sums', async (t) => { t.equal(1 + 1, 3, 'two and'); t.ok(1); }); });",
  });
  t.match(result, { code: 1, last: '1 passed, 1 failed' });
  t.match(result.all, /✗ test\/domain\/bad\.test\.ts > outer > sums > two and\n.*-3\n *\+2/s);
});

t.test('what fails beside the tests within a test counts, too', async (t) => {
  const result = await run(t, {
    beside:
      "t.test('outer', async (t) => { await t.test('a', async (t) => t.ok(1)); t.equal(1 + 1, 3, 'beside'); });",
  });
  t.match(result, { code: 1, last: '1 passed, 1 failed' });
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

const WHOLE = `
  import { runTestsTwice } from './scripts/lib/tests.mjs';
  const { code, tally } = await runTestsTwice('.', { print: console.log });
  console.log(JSON.stringify({ code, ...tally }));
`;

t.test(
  'in a whole run a file that failed runs once more, alone, and is named when it passes then',
  async (t) => {
    const root = aTree(t, {
      '.taprc': `include: ["test/**/*.test.ts"]\n${CONFIG}`,
      'test/good.test.ts': "import t from 'tap'; t.test('fine', async (t) => t.ok(1));",
      'test/unsteady.test.ts': `
      import { existsSync, writeFileSync } from 'node:fs';
      import t from 'tap';
      const tried = existsSync('tried');
      t.test('first', async (t) => t.ok(1));
      t.test('second', async (t) => { writeFileSync('tried', ''); t.ok(tried); });`,
    });
    const mended = await whole(t, root);
    t.match(mended.at(-1), '{"code":0,"passed":3,"failed":0,"skipped":0}');
    t.match(mended.at(-2), '# passed only when run alone: test/unsteady.test.ts');
    writeFileSync(`${root}/test/good.test.ts`, "import t from 'tap'; t.test('never', async (t) => t.ok(0));");
    const broken = await whole(t, root);
    t.match(broken.at(-1), '{"code":1,"passed":2,"failed":1,"skipped":0}');
    t.notMatch(broken.join('\n'), 'passed only');
  },
);

t.test('a file whose time is up costs no other file its result, and may pass alone', async (t) => {
  const fine = "import t from 'tap'; t.test('fine', async (t) => t.ok(1));";
  const root = aTree(t, {
    '.taprc': `include: ["test/**/*.test.ts"]\n${CONFIG.replace('jobs: 2\ntimeout: 20', 'jobs: 1\ntimeout: 3')}`,
    'test/a.test.ts': `
      import { existsSync, writeFileSync } from 'node:fs';
      import t from 'tap';
      const tried = existsSync('tried');
      t.test('hangs', async (t) => {
        writeFileSync('tried', '');
        if (!tried) await new Promise((done) => setTimeout(done, 60_000));
        t.ok(1);
      });`,
    'test/b.test.ts': fine,
    'test/c.test.ts': fine,
  });
  const lines = await whole(t, root);
  t.match(lines.at(-1), '{"code":0,"passed":3,"failed":0,"skipped":0}');
  t.match(lines.at(-2), /passed only when run alone:.* test\/a\.test\.ts/);
  for (const name of ['a', 'b', 'c']) t.match(lines.join('\n'), `ok   test/${name}.test.ts`);
});

async function whole(t: Test, root: string): Promise<string[]> {
  const child = runProcess(t, process.execPath, ['--input-type=module', '--eval', WHOLE], root);
  return linesOf(child);
}
