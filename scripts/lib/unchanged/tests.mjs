import { recordOf } from './passed.mjs';
import { isSetting } from './tree.mjs';

/**
 * @typedef {import('./tree.mjs').Tree} Tree
 * @typedef {import('../test/tally.mjs').FileResult} FileResult
 */

/** These read or copy the checkout. */
const READS_ALL = /^test\/(?:docs|scripts)\//;
/** Read in folders that no code names. */
const READ_BY_ALL = /^db\//;

/**
 * The test files that have not passed with the present content of all files that they reach, and what records those that
 * pass now.
 * @param {string} root
 * @param {Tree | null} tree Null leaves all to run.
 * @param {readonly string[]} tests
 * @returns {{ left: readonly string[], note: (results: Iterable<FileResult>) => void }}
 */
export function testsLeft(root, tree, tests) {
  if (tree === null) return { left: tests, note: () => {} };
  const record = recordOf(root, 'tests');
  const passed = record.read();
  const everywhere = tree.digest(tree.files.filter((file) => isSetting(file) || READ_BY_ALL.test(file)));
  const all = tree.digest(tree.files);
  const present = new Map(
    tests.map((test) => [
      test,
      READS_ALL.test(test) ? all : `${everywhere} ${tree.digest(tree.reachedFrom(test))}`,
    ]),
  );
  const left = tests.filter((test) => passed.get(test) !== present.get(test));
  return {
    left,
    note: (results) => {
      const now = [...results].filter(({ ok, skip }) => ok && skip === null).map(({ name }) => name);
      const isPassed = new Set([...tests.filter((test) => !left.includes(test)), ...now]);
      record.write([...present].filter(([test]) => isPassed.has(test)));
    },
  };
}
