import { existsSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { dependenciesAreFresh, ensureDependencies } from '../../scripts/lib/install.mjs';
import { runProcess } from '../support/child.ts';
import { aFolder, aFolderOf, write } from '../support/folder.ts';

const LOCKED = {
  '': { name: 'app' },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/tool': { version: '2.0.0', integrity: 'sha512-tool', dev: true },
  'node_modules/native-other': { version: '3.0.0', integrity: 'sha512-other', optional: true },
};
const { 'node_modules/a': a, 'node_modules/tool': tool } = LOCKED;
const all = { dev: true };
const STAMP = 'node_modules/.berth-install.json';

function anApp(t: Test, installed: object | null): string {
  const root = aFolder(t);
  write(root, 'package-lock.json', JSON.stringify({ packages: LOCKED }));
  if (installed) write(root, 'node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
  return root;
}

t.test('nothing is fresh without node_modules, or after an installation that was broken off', async (t) => {
  t.notOk(dependenciesAreFresh(anApp(t, null), all));
  const brokenOff = anApp(t, null);
  write(brokenOff, 'node_modules/a/package.json', '{}');
  t.notOk(dependenciesAreFresh(brokenOff, all));
});

t.test('an installation by hand is fresh when it has what the lock asks for', async (t) => {
  const complete = { 'node_modules/a': a, 'node_modules/tool': tool };
  t.ok(dependenciesAreFresh(anApp(t, complete), all), 'packages of other platforms may be missing');
  t.notOk(dependenciesAreFresh(anApp(t, { ...complete, 'node_modules/a': { ...a, version: '0.9.0' } }), all));
  t.notOk(dependenciesAreFresh(anApp(t, { ...complete, 'node_modules/a': { ...a, integrity: 'x' } }), all));
  t.notOk(dependenciesAreFresh(anApp(t, { 'node_modules/tool': tool }), all));
});

t.test('what only the build needs is not missed when nothing is to be built', async (t) => {
  const production = anApp(t, { 'node_modules/a': a });
  t.ok(dependenciesAreFresh(production, { dev: false }));
  t.notOk(dependenciesAreFresh(production, all));
});

t.test('packages that were installed on another platform are not fresh', async (t) => {
  const root = anApp(t, { 'node_modules/a': a, 'node_modules/tool': tool });
  write(root, STAMP, JSON.stringify({ platform: 'sunos-sparc', lock: '', installed: '' }));
  t.notOk(dependenciesAreFresh(root, all));
});

t.test('a linked node_modules that does not fit is reported and left alone', async (t) => {
  const root = anApp(t, null);
  const elsewhere = aFolderOf(t, { kept: 'x' });
  symlinkSync(elsewhere, path.join(root, 'node_modules'));
  await t.rejects(ensureDependencies(root, all), { message: /is a link to/ });
  t.ok(existsSync(path.join(elsewhere, 'kept')));
  unlinkSync(path.join(root, 'node_modules'));
});

/** A package whose one dependency is beside it, so that npm needs no network. */
function aPackage(t: Test): string {
  const root = aFolderOf(t, { 'dep/package.json': '{ "name": "dep", "version": "1.0.0" }' });
  const manifest = { name: 'app', version: '1.0.0', dependencies: { dep: 'file:dep' } };
  const packages = {
    '': manifest,
    dep: { version: '1.0.0' },
    'node_modules/dep': { resolved: 'dep', link: true },
  };
  write(root, 'package.json', JSON.stringify(manifest));
  write(
    root,
    'package-lock.json',
    JSON.stringify({ name: 'app', lockfileVersion: 3, requires: true, packages }),
  );
  return root;
}

t.test('dependencies are installed once, by any number of processes', async (t) => {
  const root = aPackage(t);
  const install = path.resolve('scripts/lib/install.mjs');
  const code = `import { ensureDependencies } from '${install}'; await ensureDependencies('${root}', { dev: true });`;
  const children = [1, 2].map(() => runProcess(t, process.execPath, ['--input-type=module', '-e', code]));
  t.same(
    await Promise.all(children.map(({ ended }) => ended)),
    [0, 0],
    children.map(({ errors }) => errors()).join(),
  );
  const stamp = readFileSync(path.join(root, STAMP), 'utf8');
  t.ok(existsSync(path.join(root, 'node_modules', 'dep', 'package.json')));
  t.ok(dependenciesAreFresh(root, all));
  await ensureDependencies(root, all);
  t.equal(readFileSync(path.join(root, STAMP), 'utf8'), stamp);
});

t.test('a changed lock makes an installation stale', async (t) => {
  const root = aPackage(t);
  await ensureDependencies(root, all);
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  lock.packages['node_modules/new'] = { version: '1.0.0', integrity: 'sha512-new' };
  write(root, 'package-lock.json', JSON.stringify(lock));
  t.notOk(dependenciesAreFresh(root, all));
});

t.test('when npm fails, all that it said is shown', async (t) => {
  const root = aPackage(t);
  write(root, 'package.json', JSON.stringify({ name: 'app', dependencies: { other: 'file:nowhere' } }));
  await t.rejects(ensureDependencies(root, all), { message: /npm error.*npm ci failed with exit code 1/s });
});
