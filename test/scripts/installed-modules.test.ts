import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { keepModules, linkModules } from '../../scripts/lib/installed-modules.mjs';

const FILE = 'node_modules/tool/index.js';

/** Two checkouts of one lock file; the first one's packages are kept. */
async function twoCheckouts(t: Test) {
  const root = t.testdir({
    one: { 'package-lock.json': '1', node_modules: { tool: { 'index.js': 'tool()', empty: {} } } },
    two: { 'package-lock.json': '1' },
    cache: {},
  });
  const [one, two, cache] = ['one', 'two', 'cache'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  await keepModules(one, cache);
  return { one, two, cache };
}

const kept = (cache: string): readonly string[] => readdirSync(cache);

t.test('the next checkout of a lock file links the packages of the last one', async (t) => {
  const { one, two, cache } = await twoCheckouts(t);
  rmSync(path.join(one, 'node_modules'), { recursive: true });
  t.equal(await linkModules(two, cache), true);
  t.equal(readFileSync(path.join(two, FILE), 'utf8'), 'tool()');
  t.equal(statSync(path.join(two, FILE)).nlink, 2, 'without a copy');
});

t.test('what a checkout had before is replaced', async (t) => {
  const { two, cache } = await twoCheckouts(t);
  mkdirSync(path.join(two, 'node_modules/old'), { recursive: true });
  t.equal(await linkModules(two, cache), true);
  t.same(readdirSync(path.join(two, 'node_modules')), ['tool']);
});

t.test('packages that were changed in place are not used', async (t) => {
  const { one, two, cache } = await twoCheckouts(t);
  writeFileSync(path.join(one, FILE), 'evil()');
  t.equal(await linkModules(two, cache), false);
  t.notOk(readdirSync(two).includes('node_modules'), 'and nothing is linked');
});

t.test('another lock file has its own packages, and only the newest are kept', async (t) => {
  const { one, two, cache } = await twoCheckouts(t);
  const before = kept(cache);
  writeFileSync(path.join(two, 'package-lock.json'), '2');
  t.equal(await linkModules(two, cache), false);
  mkdirSync(path.join(two, 'node_modules'));
  await keepModules(two, cache);
  t.equal(kept(cache).length, 1);
  t.notSame(kept(cache), before);
  t.equal(await linkModules(one, cache), false);
});
