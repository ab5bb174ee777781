import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * @typedef {import('../checks.mjs').Verdict} Verdict
 * @typedef {{ read: () => ReadonlyMap<string, string>, write: (passed: Iterable<[string, string]>) => void }} Record
 */

/** Where a clone's records are. */
export const PASSED = path.join('.tap', 'passed');

/**
 * What passed, and a digest of everything that it read then. Records of static checks are reused by later clones.
 * @param {string} root
 * @param {string} name
 * @returns {Record}
 */
export function recordOf(root, name) {
  const file = path.join(root, PASSED, `${name.replaceAll(/\W+/g, '-')}.json`);
  return {
    read: () => {
      try {
        return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8'))));
      } catch {
        return new Map();
      }
    },
    write: (passed) => {
      mkdirSync(path.dirname(file), { recursive: true });
      // another run may be reading it
      const draft = `${file}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(Object.fromEntries(passed)));
      renameSync(draft, file);
    },
  };
}

/**
 * Runs a check, unless it passed with the same inputs. Null as inputs means that they are unknown.
 * @param {string} root
 * @param {string} name
 * @param {string | null} inputs A digest.
 * @param {() => Promise<Verdict>} run
 * @returns {Promise<Verdict>}
 */
export async function unlessPassed(root, name, inputs, run) {
  if (inputs === null) return await run();
  const record = recordOf(root, name);
  if (record.read().get(name) === inputs) return { ok: true, report: '', note: 'unchanged' };
  const verdict = await run();
  if (verdict.ok) record.write([[name, inputs]]);
  return verdict;
}
