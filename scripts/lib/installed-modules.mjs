import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { capture } from './command.mjs';

/**
 * Packages that an earlier checkout has installed from the same lock file, for the next one: hard links, as pnpm makes
 * them, take two seconds instead of forty. A file that was changed in place since is noticed by its time or size; then
 * all are installed again. Only the newest packages are kept.
 */

const KEPT = /^modules-[0-9a-f]{64}$/;

/**
 * Links the packages into the checkout. False when there are none for its lock file, or they have changed.
 * @param {string} root
 * @param {string} cache
 * @returns {Promise<boolean>}
 */
export async function linkModules(root, cache) {
  const kept = path.join(cache, keyOf(root));
  const modules = path.join(kept, 'node_modules');
  if (!existsSync(kept) || readFileSync(path.join(kept, 'digest'), 'utf8') !== digestOf(modules))
    return false;
  const target = path.join(root, 'node_modules');
  rmSync(target, { recursive: true, force: true });
  return await linkTree(modules, target);
}

/**
 * Keeps the checkout's packages for the next one, if both are on one file system.
 * @param {string} root
 * @param {string} cache
 * @returns {Promise<void>}
 */
export async function keepModules(root, cache) {
  const fresh = path.join(cache, `modules-${process.pid}.new`);
  mkdirSync(fresh, { recursive: true });
  try {
    const modules = path.join(fresh, 'node_modules');
    if (!(await linkTree(path.join(root, 'node_modules'), modules))) return;
    writeFileSync(path.join(fresh, 'digest'), digestOf(modules));
    for (const name of readdirSync(cache).filter((name) => KEPT.test(name)))
      rmSync(path.join(cache, name), { recursive: true, force: true });
    renameSync(fresh, path.join(cache, keyOf(root)));
  } catch (error) {
    // another run was faster
    if (!existsSync(path.join(cache, keyOf(root)))) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * @param {string} from
 * @param {string} to
 */
async function linkTree(from, to) {
  const { code } = await capture('cp', ['--archive', '--link', from, to], { cwd: path.dirname(from) });
  if (code !== 0) rmSync(to, { recursive: true, force: true });
  return code === 0;
}

/** @param {string} root */
function keyOf(root) {
  const lock = readFileSync(path.join(root, 'package-lock.json'));
  const runtime = `${process.platform} ${process.arch} ${process.version}`;
  return `modules-${createHash('sha256').update(runtime).update(lock).digest('hex')}`;
}

/**
 * Of the names, sizes and times of all files.
 * @param {string} folder
 */
function digestOf(folder) {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const found = lstatSync(path.join(folder, name));
    if (!found.isDirectory()) hash.update(`${name} ${found.size} ${found.mtimeMs}\n`);
  }
  return hash.digest('hex');
}
