import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from '../command.mjs';

/**
 * The present files of a checkout: those in git and new ones, without ignored ones.
 * @typedef {object} Tree
 * @property {readonly string[]} files Paths from the root.
 * @property {(files: Iterable<string>) => string} digest Of these files' names and contents.
 * @property {(file: string) => ReadonlySet<string>} reachedFrom The files that a file names, directly or not, and itself. With a
 *   folder it names all files below.
 */

/** A relative path in quotes (an import, a worker, a stylesheet), or one from the root (a program, a folder to read). */
const NAMED = /['"`]((?:\.{1,2}|[\w-]+)\/[^'"`\n]+)['"`]/g;
/** Settings of tools and versions of dependencies: what they change is not followed file by file. */
const SETTING = /^(?!.*\.md$)[^/]+$|\/tsconfig[^/]*\.json$/;
const CODE = /\.(?:[cm]?[jt]s|tsx|css)$/;

/** @param {string} file */
export const isSetting = (file) => SETTING.test(file);

/**
 * Reads all files of a checkout. Null without git, or outside of a checkout.
 * @param {string} root
 * @returns {Promise<Tree | null>}
 */
export async function readTree(root) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = await capture('git', args, { cwd: root }).catch(() => null);
  if (listed === null || listed.code !== 0) return null;
  /** @type {Map<string, { digest: string, named: readonly string[] }>} */
  const about = new Map();
  /** @type {Map<string, string[]>} */
  const below = new Map();
  for (const file of listed.stdout.split('\0').filter(Boolean).sort()) {
    if (!lstatSync(path.join(root, file), { throwIfNoEntry: false })?.isFile()) continue;
    about.set(file, read(root, file));
    for (const folder of foldersOf(file)) {
      const files = below.get(folder) ?? [];
      below.set(folder, files);
      files.push(file);
    }
  }
  return {
    files: [...about.keys()],
    digest: (files) => {
      const hash = createHash('sha256');
      for (const file of [...files].sort()) hash.update(`${file}\0${about.get(file)?.digest}\n`);
      return hash.digest('hex');
    },
    reachedFrom: (file) => {
      const reached = new Set([file]);
      for (const one of reached)
        for (const name of about.get(one)?.named ?? [])
          for (const next of about.has(name) ? [name] : (below.get(name) ?? [])) reached.add(next);
      return reached;
    },
  };
}

/**
 * The folders above a file, without the root.
 * @param {string} file
 * @returns {string[]}
 */
function foldersOf(file) {
  const folder = path.posix.dirname(file);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

/**
 * @param {string} root
 * @param {string} file
 */
function read(root, file) {
  const content = readFileSync(path.join(root, file));
  const folder = path.posix.dirname(file);
  const names = CODE.test(file) ? [...`${content}`.matchAll(NAMED)].map(([, name = '']) => name) : [];
  return {
    digest: createHash('sha256').update(content).digest('hex'),
    named: [...new Set(names)].map((name) =>
      path.posix.join(name.startsWith('.') ? folder : '', name).replace(/\/$/, ''),
    ),
  };
}
