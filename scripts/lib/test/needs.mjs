import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * What a test file needs besides Node.js, by its imports: nothing (`pure`), PostgreSQL or Redis (`database`), or a
 * container engine or browser too (`engine`).
 * @typedef {'pure' | 'database' | 'engine'} Kind
 */

const IMPORT = /^(?:import|export)\s(?!type\b)[^;]*?'(\.[^']+\.ts)'/gm;
const ASKS_FOR_ENGINE = /\bneeds\(\w+, '(?:engine|browser|busybox|shells|node20)'\)/;
const ASKS_FOR_DATABASE = /\bneeds\(\w+, '(?:postgres|systemPostgres|redis)'\)|\bstartEmbedded\(/;

/**
 * @param {string} root
 * @param {string} file
 * @returns {Kind}
 */
export function kindOf(root, file) {
  const kinds = reachedFrom(path.resolve(root, file), path.resolve(root, 'test')).map(ownKind);
  return kinds.find((kind) => kind === 'engine') ?? kinds.find((kind) => kind === 'database') ?? 'pure';
}

/**
 * The modules of `folder` that `module` loads, including itself.
 * @param {string} module
 * @param {string} folder
 * @returns {string[]}
 */
function reachedFrom(module, folder) {
  const reached = new Set([module]);
  for (const one of reached)
    for (const next of importsOf(one)) if (next.startsWith(folder)) reached.add(next);
  return [...reached];
}

/** @type {Map<string, { imports: readonly string[], kind: Kind }>} */
const read = new Map();

/** @param {string} module */
const importsOf = (module) => about(module).imports;
/** @param {string} module */
const ownKind = (module) => about(module).kind;

/** @param {string} module */
function about(module) {
  const before = read.get(module);
  if (before !== undefined) return before;
  const text = existsSync(module) ? readFileSync(module, 'utf8') : '';
  const imports = [...text.matchAll(IMPORT)].map(([, to = '']) => path.resolve(path.dirname(module), to));
  /** @type {Kind} */
  const kind = ASKS_FOR_ENGINE.test(text) ? 'engine' : ASKS_FOR_DATABASE.test(text) ? 'database' : 'pure';
  const result = { imports, kind };
  read.set(module, result);
  return result;
}
