import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { restoreCheckRecords, saveCheckRecords } from '../../scripts/lib/unchanged/check-cache.mjs';
import { lint } from '../../scripts/lib/unchanged/lint.mjs';
import { unlessPassed } from '../../scripts/lib/unchanged/passed.mjs';
import { testsLeft } from '../../scripts/lib/unchanged/tests.mjs';
import { readTree, type Tree } from '../../scripts/lib/unchanged/tree.mjs';
import { runProcess } from '../support/child.ts';
import { aFolderOf, write } from '../support/folder.ts';

const FILES = {
  '.gitignore': 'node_modules\n.tap\nignored.ts\n',
  'a.ts': "import { b } from './lib/b.ts';\n\nb();\n",
  'lib/b.ts': "import { c } from './c.ts';\n\nexport const b = () => c();\n",
  'lib/c.ts': 'export const c = (): number => 1;\n',
  'lib/alone.ts': "new URL('./none.ts', 'file:///');\n",
  'ignored.ts': '1;\n',
};

/** A checkout with these files. */
async function aCheckout(t: Test, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = aFolderOf(t, { ...FILES, ...files });
  const git = runProcess(t, '/usr/bin/env', ['git', 'init', '-q'], root);
  if ((await git.ended) !== 0) throw new Error(git.errors());
  return root;
}

async function treeOf(root: string): Promise<Tree> {
  const tree = await readTree(root);
  if (tree === null) throw new Error(`${root} is no checkout`);
  return tree;
}

t.test('the files that a file reaches, and a digest that follows their contents', async (t) => {
  const root = await aCheckout(t);
  const before = await treeOf(root);
  t.same(before.files, ['.gitignore', 'a.ts', 'lib/alone.ts', 'lib/b.ts', 'lib/c.ts']);
  t.same([...before.reachedFrom('a.ts')], ['a.ts', 'lib/b.ts', 'lib/c.ts']);
  t.same([...before.reachedFrom('lib/alone.ts')], ['lib/alone.ts']);
  write(root, 'lib/c.ts', 'export const c = (): number => 2;\n');
  const after = await treeOf(root);
  const isSame = (file: string) =>
    before.digest(before.reachedFrom(file)) === after.digest(after.reachedFrom(file));
  t.same(before.files.filter(isSame), ['.gitignore', 'lib/alone.ts']);
  rmSync(path.join(root, 'lib/alone.ts'));
  const { files } = await treeOf(root);
  t.notOk(files.includes('lib/alone.ts'), 'in git or not, a removed file is none');
});

t.test('a program that runs and a folder that is read count as reached', async (t) => {
  const root = await aCheckout(t, {
    'runs.ts': "run('lib/a/b.ts'); list('./more'); list('../..');\n",
    'more/x.sql': '',
  });
  t.same([...(await treeOf(root)).reachedFrom('runs.ts')], ['runs.ts', 'more/x.sql']);
  write(root, 'lib/a/b.ts', '');
  t.same([...(await treeOf(root)).reachedFrom('runs.ts')], ['runs.ts', 'lib/a/b.ts', 'more/x.sql']);
});

t.test('outside of a checkout the files are unknown', async (t) => {
  t.equal(await readTree(aFolderOf(t, FILES)), null);
});

t.test('a check runs until it passes, and again when its inputs change or are unknown', async (t) => {
  const root = aFolderOf(t, {});
  let runs = 0;
  const after = async (ok: boolean, inputs: string | null) => {
    const verdict = await unlessPassed(root, 'types', inputs, async () => {
      runs += 1;
      return { ok, report: 'report' };
    });
    return [verdict.ok, runs];
  };
  t.same(await after(false, 'one'), [false, 1]);
  t.same(await after(true, 'one'), [true, 2]);
  t.same(await after(false, 'one'), [true, 2], 'passed with these inputs');
  t.same(await after(false, 'two'), [false, 3]);
  t.same(await after(true, null), [true, 4]);
  t.same(await after(true, null), [true, 5]);
});

t.test('a new clone knows what passed in another one, and runs what differs', async (t) => {
  const [first, second, cache] = [aFolderOf(t, {}), aFolderOf(t, {}), aFolderOf(t, {})];
  let runs = 0;
  const after = async (root: string, inputs: string) => {
    await unlessPassed(root, 'types', inputs, async () => {
      runs += 1;
      return { ok: true, report: '' };
    });
    return runs;
  };
  restoreCheckRecords(first, cache);
  t.equal(await after(first, 'one'), 1);
  write(first, '.tap/types.tsbuildinfo', 'of each file');
  write(first, '.tap/passed/tests.json', '{}');
  write(first, '.tap/openapi.json', '{}');
  write(first, '.tap/openapi.json.123', '{');
  saveCheckRecords(first, cache);
  restoreCheckRecords(second, cache);
  t.equal(await after(second, 'one'), 1);
  t.equal(await after(second, 'two'), 2);
  t.equal(readFileSync(path.join(second, '.tap/types.tsbuildinfo'), 'utf8'), 'of each file');
  t.ok(existsSync(path.join(second, '.tap/openapi.json')));
  t.notOk(
    existsSync(path.join(second, '.tap/openapi.json.123')),
    'what a process did not finish stays behind',
  );
  t.notOk(existsSync(path.join(second, '.tap/passed/tests.json')), 'every test runs in each clone');
  restoreCheckRecords(second, cache);
  t.equal(await after(second, 'two'), 2, 'what a clone remembers itself stays');
});

t.test('the linter sees what changed and what imports it, and nothing else', async (t) => {
  const root = await aCheckout(t, {
    'biome.json': JSON.stringify({
      vcs: { enabled: true, clientKind: 'git', useIgnoreFile: true },
      formatter: { enabled: false },
      linter: { rules: { nursery: { noFloatingPromises: 'error' } } },
    }),
    'more/1.ts': 'export {};\n',
    'more/2.ts': 'export {};\n',
    'more/notes.md': 'no code\n',
  });
  const modules = path.join(root, 'node_modules');
  symlinkSync(realpathSync('node_modules'), modules);
  const linted = async () => await lint(root, await treeOf(root));
  t.match(await linted(), { ok: true });
  write(root, 'lib/c.ts', 'export const c = async (): Promise<number> => 1;\n');
  const { ok, report } = await linted();
  t.notOk(ok);
  t.match(report, /a\.ts:3.*noFloatingPromises/, 'a rule of types, in a file that did not change');
  t.notOk((await linted()).ok, 'a failure is no record');
  write(root, 'lib/c.ts', FILES['lib/c.ts']);
  t.match(await linted(), { ok: true });
  rmSync(modules);
  t.match(await linted(), { ok: true, note: 'unchanged' }, 'no linter is needed where nothing changed');
});

t.test(
  'a test file is left until it passes, and again when what it reaches, a setting or a migration changes',
  async (t) => {
    const root = await aCheckout(t, {
      'test/a.test.ts': "import '../a.ts';\n",
      'test/b.test.ts': "import '../lib/alone.ts';\n",
      'test/docs/c.test.ts': '',
      'db/1.sql': '',
      'README.md': '',
    });
    const tests = ['test/a.test.ts', 'test/b.test.ts', 'test/docs/c.test.ts'];
    const left = async () => testsLeft(root, await treeOf(root), tests);
    const pass = async (which: readonly string[], over = {}) => {
      const counts = { passed: 1, failed: 0, skipped: 0 };
      const one = (name: string) => ({ name, ok: true, ms: 1, skip: null, failures: [], counts, ...over });
      (await left()).note(which.map(one));
    };
    t.same((await left()).left, tests);
    await pass(tests, { ok: false });
    await pass(tests, { skip: 'no engine' });
    t.same((await left()).left, tests);
    await pass(tests.slice(0, 1));
    await pass(tests.slice(1));
    t.same((await left()).left, []);
    for (const [file, changed] of [
      ['lib/c.ts', ['test/a.test.ts', 'test/docs/c.test.ts']],
      ['README.md', ['test/docs/c.test.ts']],
      ['package.json', tests],
      ['db/1.sql', tests],
    ] as const) {
      write(root, file, `// ${file}\n`);
      t.same((await left()).left, changed, file);
      await pass(tests);
    }
    t.same(testsLeft(root, null, tests).left, tests);
  },
);
