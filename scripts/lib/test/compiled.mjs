import { lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const LINK = path.join('.tap', 'compile-cache');
const PREFIX = 'compiled-';

/**
 * The environment in which processes share compiled code, also with other clones on this machine. A clone has a link to
 * the folder of this month in `cache`. Node.js names a module by its path from that link, and compares its content.
 * @param {string} root
 * @param {string} cache
 * @param {Date} [now]
 * @returns {NodeJS.ProcessEnv}
 */
export function sharingCompiled(root, cache, now = new Date()) {
  const link = path.join(root, LINK);
  const target = ofMonth(cache, now);
  if (targetOf(link) !== target) linkTo(link, target);
  return { NODE_COMPILE_CACHE: link, NODE_COMPILE_CACHE_PORTABLE: '1' };
}

/**
 * The cache's folder of this month. Nothing else removes the code of deleted modules, so the others go.
 * @param {string} cache
 * @param {Date} now
 */
function ofMonth(cache, now) {
  const name = `${PREFIX}${now.toISOString().slice(0, 7)}`;
  mkdirSync(path.join(cache, name), { recursive: true });
  const others = readdirSync(cache).filter((other) => other.startsWith(PREFIX) && other !== name);
  for (const other of others) rmSync(path.join(cache, other), { recursive: true, force: true });
  return path.join(cache, name);
}

/**
 * Null when nothing, or a folder, is there.
 * @param {string} link
 */
const targetOf = (link) =>
  lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(link) : null;

/**
 * @param {string} link
 * @param {string} target
 */
function linkTo(link, target) {
  mkdirSync(path.dirname(link), { recursive: true });
  rmSync(link, { recursive: true, force: true });
  try {
    symlinkSync(target, link);
  } catch (error) {
    // another run of this checkout was faster
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
}
