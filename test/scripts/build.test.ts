import { cpSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { buildIsFresh, ensureBuild, SERVER } from '../../scripts/lib/build.mjs';
import { checkFolders } from '../../scripts/lib/folders.mjs';
import { dependenciesAreFresh, ensureDependencies } from '../../scripts/lib/install.mjs';
import { checkLayers } from '../../scripts/lib/layers.mjs';
import { checkPorts } from '../../scripts/lib/ports.mjs';
import { runProcess } from '../support/child.ts';
import { aFolder, aFolderOf, write } from '../support/folder.ts';
import { aTree, build } from '../support/tree.ts';

const SOURCE = 'src/app/main/bin/server.ts';
const SOURCES = {
  [SOURCE]: "import { answer } from '../../../answer.ts';\nconsole.log(answer);\n",
  'src/answer.ts': 'export const answer: number = 42;\n',
};
const PAGES = {
  'web/index.html': '<!doctype html><script type="module" src="/src/main.ts"></script>',
  'web/src/main.ts': 'document.title = "Berth";\n',
};

t.test('both halves are built once, and stay fresh until a source changes', async (t) => {
  const root = aTree(t, { ...SOURCES, ...PAGES });
  t.notOk(buildIsFresh(root));
  await build(t, root);
  t.match(readFileSync(path.join(root, SERVER), 'utf8'), '../../../answer.js');
  t.match(readFileSync(path.join(root, 'web/dist/index.html'), 'utf8'), /assets\/.*\.js/);
  t.ok(buildIsFresh(root));
  const builtAt = statSync(path.join(root, SERVER)).mtimeMs;
  await build(t, root);
  t.equal(statSync(path.join(root, SERVER)).mtimeMs, builtAt, 'a fresh build is not repeated');
  for (const file of ['src/answer.ts', 'web/src/main.ts', 'tsconfig.build.json', 'package-lock.json']) {
    const text = readFileSync(path.join(root, file), 'utf8');
    write(root, file, `${text}\n`);
    t.notOk(buildIsFresh(root), file);
    write(root, file, text);
  }
  write(root, 'src/new.ts', '');
  t.notOk(buildIsFresh(root), 'a new file');
  rmSync(path.join(root, 'src/new.ts'));
  t.ok(buildIsFresh(root));
  rmSync(path.join(root, 'web/dist'), { recursive: true });
  t.notOk(buildIsFresh(root), 'half of the result is missing');
  await failsAndChangesNothing(t, root);
});

t.test('a tree with the client, but not the printer of its types, is refused', async (t) => {
  const root = aTree(t, { ...SOURCES, 'src/client/index.ts': '' });
  await t.rejects(build(t, root), { message: /src\/client need .*print-open-api\.ts, which is missing/ });
  t.notOk(existsSync(path.join(root, SERVER)));
});

/** Builds a tree whose service has a wrong type. */
async function failsAndChangesNothing(t: Test, root: string): Promise<void> {
  rmSync(path.join(root, 'web'), { recursive: true });
  write(root, 'src/answer.ts', "export const answer: number = 'wrong';\n");
  await t.rejects(build(t, root), { message: /src\/answer\.ts.*TS2322.*tsc ended with exit code/s });
  const answer = (): string => readFileSync(path.join(root, 'dist/answer.js'), 'utf8');
  t.match(answer(), '42');
  t.notOk(existsSync(path.join(root, '.dist-new')));
  t.notOk(buildIsFresh(root), 'the next start tries again');
  await ensureBuild(root, { typesAreChecked: true });
  t.match(answer(), 'wrong', 'checked types are not checked again');
}

t.test('a folder with only the result is fresh', async (t) => {
  const root = aFolder(t);
  write(root, SERVER, '');
  t.ok(buildIsFresh(root));
});

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

t.test('nothing is fresh without node_modules, or after an interrupted installation', async (t) => {
  t.notOk(dependenciesAreFresh(anApp(t, null), all));
  const brokenOff = anApp(t, null);
  write(brokenOff, 'node_modules/a/package.json', '{}');
  t.notOk(dependenciesAreFresh(brokenOff, all));
});

t.test('a manual installation is fresh when it matches the lock', async (t) => {
  const complete = { 'node_modules/a': a, 'node_modules/tool': tool };
  t.ok(dependenciesAreFresh(anApp(t, complete), all), 'packages of other platforms may be missing');
  t.notOk(dependenciesAreFresh(anApp(t, { ...complete, 'node_modules/a': { ...a, version: '0.9.0' } }), all));
  t.notOk(dependenciesAreFresh(anApp(t, { ...complete, 'node_modules/a': { ...a, integrity: 'x' } }), all));
  t.notOk(dependenciesAreFresh(anApp(t, { 'node_modules/tool': tool }), all));
});

t.test('build dependencies are not needed when nothing is built', async (t) => {
  const production = anApp(t, { 'node_modules/a': a });
  t.ok(dependenciesAreFresh(production, { dev: false }));
  t.notOk(dependenciesAreFresh(production, all));
});

t.test('packages installed on another platform are not fresh', async (t) => {
  const root = anApp(t, { 'node_modules/a': a, 'node_modules/tool': tool });
  write(root, STAMP, JSON.stringify({ platform: 'sunos-sparc', lock: '', installed: '' }));
  t.notOk(dependenciesAreFresh(root, all));
});

t.test('a linked node_modules that does not match is reported and left alone', async (t) => {
  const root = anApp(t, null);
  const elsewhere = aFolderOf(t, { kept: 'x' });
  symlinkSync(elsewhere, path.join(root, 'node_modules'));
  await t.rejects(ensureDependencies(root, all), { message: /is a link to/ });
  t.ok(existsSync(path.join(elsewhere, 'kept')));
  unlinkSync(path.join(root, 'node_modules'));
});

const CONFIG = '.dependency-cruiser.mjs';
const GOOD = {
  'src/domain/thing.ts': 'export type Thing = { readonly id: string };\n',
  'src/ports/store.ts':
    "import type { Thing } from '../domain/thing.ts';\nexport type Store = { get(): Thing };\n",
};

function aSource(t: Test, files: Readonly<Record<string, string>>): string {
  const root = aTree(t, { ...GOOD, ...files });
  cpSync(CONFIG, path.join(root, CONFIG));
  return root;
}

t.test('each import that a layer may not have fails, and is named', async (t) => {
  const root = aSource(t, {
    'src/domain/outward.ts':
      "import type { Store } from '../ports/store.ts';\nexport type Outward = { store: Store };\n",
    'src/domain/reads.ts': "import fs from 'node:fs';\nexport const reads = fs;\n",
    'src/app/recordings/up.ts': 'export type Up = string;\n',
    'src/app/terminals/looks.ts': "export type { Up } from '../recordings/up.ts';\n",
    'src/domain/terminals/up.ts': 'export type Up = string;\n',
    'src/domain/identity/looks.ts': "export type { Up } from '../terminals/up.ts';\n",
    'src/domain/value.ts': 'export const value = 7;\nexport type Value = typeof value;\n',
    // The page and the protocol import types from the service, and code from the protocol alone.
    'src/protocol/frame.ts':
      "import type { Value } from '../domain/value.ts';\nexport const frame: Value = 7;\n",
    'src/protocol/loads.ts': "export { value } from '../domain/value.ts';\n",
    'web/src/shows.ts':
      "import type { Value } from '../../src/domain/value.ts';\nexport type Shown = Value;\n",
    'web/src/speaks.tsx': "export { frame } from '../../src/protocol/frame.ts';\n",
    'web/src/loads.ts': "export { value } from '../../src/domain/value.ts';\n",
  });
  const script = runProcess(t, process.execPath, ['scripts/arch.mjs'], root);
  const said: string[] = [];
  while (said.length < 6) said.push(await script.line());
  const [terminals, identity, isPure, reads, ...shared] = said.sort();
  t.equal(terminals, 'app-terminals-looks-down: src/app/terminals/looks.ts → src/app/recordings/up.ts');
  t.equal(identity, 'domain-identity-looks-down: src/domain/identity/looks.ts → src/domain/terminals/up.ts');
  t.equal(isPure, 'domain-is-pure: src/domain/outward.ts → src/ports/store.ts');
  t.match(reads, /^domain-is-pure: src\/domain\/reads\.ts → (node:)?fs$/);
  t.same(shared, [
    'page-runs-shared-modules: web/src/loads.ts → src/domain/value.ts',
    'protocol-runs-nothing-else: src/protocol/loads.ts → src/domain/value.ts',
  ]);
  // The layers' lines come first.
  t.match(await script.line(), /^\d+ ports /);
  t.equal(await script.ended, 1);
});

t.test('a check that read too few files fails', async (t) => {
  const blind = aSource(t, {});
  write(blind, CONFIG, 'export default { forbidden: [], options: { exclude: "^src/ports/" } };');
  t.match(await checkLayers(blind), { ok: false, report: 'only 1 of 2 files below src were read' });
});

t.test('a check that cannot run fails with its output', async (t) => {
  const root = aSource(t, {});
  write(root, CONFIG, 'export default { forbidden: "nonsense" };');
  t.match(await checkLayers(root), { ok: false, report: /forbidden/ });
});

const methods = (count: number): string =>
  Array.from({ length: count }, (_, n) => `do${n}(): void;`).join(' ');

t.test('a port has at most ten methods, with those of the ports that it extends', async (t) => {
  const within = aSource(t, {
    'src/ports/joined.ts': `export interface A { ${methods(10)} }
      export interface B { readonly facts: string; ${methods(9)} readonly more: () => void }
      export type Both = A & B;`,
  });
  t.same(await checkPorts(within), { ok: true, report: '3 ports of at most 10 methods' });
  const large = aSource(t, {
    'src/ports/large.ts': `export interface Large { ${methods(11)} }`,
    'src/ports/things/grown.ts': `import type { Part } from './part.ts';
      export interface Grown extends Part { ${methods(9)} }`,
    'src/ports/things/part.ts': `export interface Part { ${methods(2)} }`,
    'src/ports/things/listed.ts': `export type Listed = { ${methods(12)} };`,
  });
  const { ok, report } = await checkPorts(large);
  t.notOk(ok);
  t.same(report.split('\n').sort(), [
    'src/ports/large.ts: Large has 11 methods, more than 10',
    'src/ports/things/grown.ts: Grown has 11 methods, more than 10',
    'src/ports/things/listed.ts: Listed has 12 methods, more than 10',
  ]);
});

t.test('a folder has at most 18 files, besides those of its subfolders', (t) => {
  const files = (folder: string, count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/${n}.ts`, '']));
  const uncounted = { ...files('docs', 19), ...files('scripts/a/node_modules/b', 19) };
  const within = aFolderOf(t, { ...files('src/a', 18), ...files('src/a/b', 18), ...uncounted });
  t.match(checkFolders(within), { ok: true, report: '2 folders of at most 18 files' });
  const large = aFolderOf(t, { ...files('web/src/views', 19), ...files('test/a', 18) });
  t.same(checkFolders(large), { ok: false, report: 'web/src/views has 19 files, more than 18' });
  t.end();
});
