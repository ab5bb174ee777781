import root from 'tap';

/** @type {import('tap').Test} */
let current = root;
/** @type {(ms: number) => void} */
let limited = () => {};

/**
 * Makes `test` the `t` that test files import. `onLimit` receives the time limits that they set.
 * @param {import('tap').Test} test
 * @param {(ms: number) => void} onLimit
 */
export function runsAs(test, onLimit) {
  current = test;
  limited = onLimit;
}

/** tap's `t` for files that share a process: each file sees its own test. */
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
