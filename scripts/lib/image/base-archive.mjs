import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { must } from '../debian/packages.mjs';
import { modernNode } from '../node.mjs';

const RECIPE = 'src/adapters/docker/images/base-image-recipe.ts';

/**
 * Identifies the recipe of the base image.
 * @param {string} root
 */
export const baseRecipe = (root) =>
  createHash('sha256')
    .update(readFileSync(path.join(root, RECIPE)))
    .digest('hex')
    .slice(0, 12);

/**
 * The archive of the base image of containers by this name, made again after a change of its recipe.
 * @param {string} root
 * @param {string} cache
 * @param {string} name
 */
export async function baseArchive(root, cache, name) {
  const file = path.join(cache, `base-${baseRecipe(root)}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  for (const old of readdirSync(cache).filter((each) => /^base-.*\.tar$/.test(each)))
    rmSync(path.join(cache, old));
  const main = path.join(root, 'scripts/lib/image/main.mjs');
  await must(modernNode(root), [main, 'base', file, name], { cwd: root });
  return file;
}
