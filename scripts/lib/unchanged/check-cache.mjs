import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { API_TYPES } from '../api-types.mjs';
import { PASSED } from './passed.mjs';

/** The files in which the checks record what passed, by folder of a clone. */
const RECORDS = new Map([
  [PASSED, /^(?!tests\.).*\.json$/],
  ['.tap', /\.tsbuildinfo$|^openapi[a-z-]*\.json$/],
  [path.dirname(API_TYPES), /^openapi\.d\.ts$/],
]);

/**
 * Copies the cached records of static checks into a new clone. Digests show what has changed since.
 * @param {string} root
 * @param {string} cache
 */
export function restoreCheckRecords(root, cache) {
  if (existsSync(path.join(root, PASSED))) return;
  for (const [folder, names] of RECORDS)
    copyAll(path.join(cache, 'checks', folder), path.join(root, folder), names);
}

/**
 * Copies the records of this clone's static checks into the cache, for the next clone.
 * @param {string} root
 * @param {string} cache
 */
export function saveCheckRecords(root, cache) {
  for (const [folder, names] of RECORDS)
    copyAll(path.join(root, folder), path.join(cache, 'checks', folder), names);
}

/**
 * @param {string} from
 * @param {string} to
 * @param {RegExp} kept
 */
function copyAll(from, to, kept) {
  const names = existsSync(from) ? readdirSync(from).filter((name) => kept.test(name)) : [];
  if (names.length > 0) mkdirSync(to, { recursive: true });
  for (const name of names) {
    // another run may be reading it
    const draft = path.join(to, `${name}.${process.pid}`);
    copyFileSync(path.join(from, name), draft);
    renameSync(draft, path.join(to, name));
  }
}
