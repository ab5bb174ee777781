import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { runProcess } from './child.ts';

const COPIED = ['scripts', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

/** A small checkout of its own: our scripts and dependencies, and the given files by their path. */
export function aTree(t: Test, files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-tree-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const name of COPIED) cpSync(name, path.join(root, name), { recursive: true });
  symlinkSync(realpathSync('node_modules'), path.join(root, 'node_modules'));
  for (const [file, text] of Object.entries(files)) write(root, file, text);
  return root;
}

export function write(root: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

/** Builds a tree as `npm run build` does; rejects with what that said. */
export async function build(t: Test, root: string): Promise<void> {
  const { ended, errors } = runProcess(t, process.execPath, ['scripts/build.mjs'], root);
  if ((await ended) !== 0) throw new Error(errors());
}
