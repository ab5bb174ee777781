import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { API_TYPES } from '../api-types.mjs';
import { PASSED } from './passed.mjs';

/** What the checks remember, by folder of a clone. */
const KEPT = new Map([
  [PASSED, /^(?!tests\.).*\.json$/],
  ['.tap', /\.tsbuildinfo$|^openapi[a-z-]*\.json$/],
  [path.dirname(API_TYPES), /^openapi\.d\.ts$/],
]);

/**
 * Gives a new clone what the checks of another one remember. A digest tells them what has changed since.
 * @param {string} root
 * @param {string} cache
 */
export function adoptMemory(root, cache) {
  if (existsSync(path.join(root, PASSED))) return;
  for (const [folder, names] of KEPT)
    copyAll(path.join(cache, 'checks', folder), path.join(root, folder), names);
}

/**
 * Keeps what the checks of this clone remember for the next one.
 * @param {string} root
 * @param {string} cache
 */
export function keepMemory(root, cache) {
  for (const [folder, names] of KEPT)
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
