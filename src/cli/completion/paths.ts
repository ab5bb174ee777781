import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Cli } from '../cli.ts';
import { findContainer } from '../values/find.ts';
import type { Value } from './value.ts';

/** A path in a container, such as `dev:src/ma`. */
const IN_CONTAINER = /^(?<name>[^/:]+):(?<folder>(?:.*\/)?)[^/]*$/s;

type Entry = { readonly name: string; readonly isFolder: boolean };

/** Completes the source or target of a copy: local paths, names of containers, and paths in the container it names. */
export async function copyEnds(cli: Cli, word: string, names: () => Promise<readonly Value[]>) {
  const { name, folder = '' } = IN_CONTAINER.exec(word)?.groups ?? {};
  if (name !== undefined) return pathsOf(await entriesIn(cli, name, folder), `${name}:${folder}`, name);
  const local = await entriesHere(word.slice(0, word.lastIndexOf('/') + 1));
  if (word.includes('/')) return local;
  const found = await names();
  return [...found.map(({ value, description }) => ({ value: `${value}:`, description })), ...local];
}

async function entriesIn(cli: Cli, name: string, folder: string): Promise<readonly Entry[]> {
  const { entries } = await (await findContainer(cli, name)).files.list(folder);
  return entries.map((entry) => ({ name: entry.name, isFolder: entry.type === 'folder' }));
}

async function entriesHere(folder: string): Promise<readonly Value[]> {
  const entries = await readdir(path.resolve(folder), { withFileTypes: true }).catch(() => []);
  const all = entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  return pathsOf(all, folder, 'here');
}

/** A folder ends in a slash, so that its content can follow. */
const pathsOf = (entries: readonly Entry[], before: string, where: string): readonly Value[] =>
  entries.map(({ name, isFolder }) => ({
    value: `${before}${name}${isFolder ? '/' : ''}`,
    description: `${isFolder ? 'folder' : 'file'}, ${where}`,
  }));
