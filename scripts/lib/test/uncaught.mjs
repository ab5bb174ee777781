/**
 * @typedef {{ readonly hookDomain: { onerror: (error: unknown, origin: NodeJS.UncaughtExceptionOrigin) => void }, readonly activeSubtests?: ReadonlySet<Running> }} Running
 */

/**
 * Replaces tap's domains, which follow every promise of the process to find the test of an uncaught error. That slows
 * down all asynchronous code. Here one test runs at a time, and the error is its own.
 */
export class Domain {
  /** @param {(error: unknown, origin: NodeJS.UncaughtExceptionOrigin) => void} onerror */
  constructor(onerror) {
    this.onerror = onerror;
  }

  destroy() {}
}

/**
 * Fails the innermost running test of `root` for an error that nothing catches.
 * @param {Running} root
 */
export function failRunningTest(root) {
  process.on('uncaughtException', (error, origin) => innermost(root).hookDomain.onerror(error, origin));
}

/**
 * @param {Running} test
 * @returns {Running}
 */
function innermost(test) {
  const running = [...(test.activeSubtests ?? [])].at(-1);
  return running === undefined ? test : innermost(running);
}
