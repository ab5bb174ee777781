import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { sharingCompiled } from '../../scripts/lib/test/compiled.mjs';
import { runProcess } from '../support/child.ts';
import { aFolder, aFolderOf } from '../support/folder.ts';

const MAY = new Date('2026-05-31T12:00:00Z');
const JUNE = new Date('2026-06-01T12:00:00Z');

/** Runs a module of a new clone, which shares compiled code. */
async function runsInClone(t: Test, cache: string): Promise<void> {
  const root = aFolderOf(t, { 'src/one.mjs': 'export const one = () => 1;\none();\n' });
  const shared = Object.entries(sharingCompiled(root, cache)).map(([name, value]) => `${name}=${value}`);
  const child = runProcess(t, '/usr/bin/env', [...shared, process.execPath, 'src/one.mjs'], root);
  t.equal(await child.ended, 0, child.errors());
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));

t.test('a clone finds what another one compiled', async (t) => {
  const cache = aFolder(t);
  await runsInClone(t, cache);
  const compiled = filesIn(cache);
  t.equal(compiled.length, 1);
  await runsInClone(t, cache);
  t.same(filesIn(cache), compiled);
});

t.test('a month begins a new folder in every clone, and the last one goes', async (t) => {
  const cache = aFolder(t);
  mkdirSync(`${cache}/checks`);
  const [one, other] = [aFolder(t), aFolder(t)];
  for (const root of [one, other]) sharingCompiled(root, cache, MAY);
  writeFileSync(`${one}/.tap/compile-cache/code`, '');
  sharingCompiled(other, cache, MAY);
  t.same(readdirSync(`${other}/.tap/compile-cache`), ['code']);
  for (const root of [one, other]) {
    sharingCompiled(root, cache, JUNE);
    t.same(readdirSync(cache), ['checks', 'compiled-2026-06']);
    writeFileSync(`${root}/.tap/compile-cache/${path.basename(root)}`, '');
  }
  t.equal(readdirSync(`${cache}/compiled-2026-06`).length, 2);
});

t.test('a folder of compiled code from before gives way to the link', async (t) => {
  const [root, cache] = [aFolderOf(t, { '.tap/compile-cache/old': '' }), aFolder(t)];
  sharingCompiled(root, cache, MAY);
  t.same(readdirSync(`${root}/.tap/compile-cache`), []);
});
