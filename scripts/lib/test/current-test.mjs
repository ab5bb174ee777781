import root from 'tap';

/** @type {import('tap').Test} */
let current = root;
/** @type {(ms: number) => void} */
let limited = () => {};

/**
 * From now on the `t` that test files import is this test. `onLimit` hears of the time limits that they set.
 * @param {import('tap').Test} test
 * @param {(ms: number) => void} onLimit
 */
export function runsAs(test, onLimit) {
  current = test;
  limited = onLimit;
}

/** Stands for tap's `t` in files that share a process: for each file it is a test of its own. */
export default new Proxy(root, {
  get: (_, name) => {
    const value = Reflect.get(current, name);
    if (typeof value !== 'function') return value;
    if (name !== 'setTimeout') return value.bind(current);
    return (/** @type {number} */ ms) => {
      limited(ms);
      current.setTimeout(ms);
    };
  },
});
