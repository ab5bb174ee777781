import { cpSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { runProcess } from './child.ts';
import { aFolderOf } from './folder.ts';

const COPIED = ['scripts', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

/** A small checkout: our scripts and dependencies, and these files by path. */
export function aTree(t: Test, files: Readonly<Record<string, string>>): string {
  const root = aTreeWithoutDependencies(t, files);
  symlinkSync(realpathSync('node_modules'), path.join(root, 'node_modules'));
  return root;
}

export function aTreeWithoutDependencies(t: Test, files: Readonly<Record<string, string>>): string {
  const root = aFolderOf(t, files);
  for (const name of COPIED)
    cpSync(name, path.join(root, name), { recursive: true, filter: (file) => !isDependency(file) });
  return root;
}

/** The mutation run installs thousands of files below `scripts`. */
const isDependency = (file: string): boolean => file.split(path.sep).includes('node_modules');

/** Builds a tree like `npm run build`; rejects with its output. */
export async function build(t: Test, root: string): Promise<void> {
  const { ended, errors } = runProcess(t, process.execPath, ['scripts/build.mjs'], root);
  if ((await ended) !== 0) throw new Error(errors());
}
