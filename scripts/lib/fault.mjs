/** A fault that the user can fix: shown without a stack trace. */
export class Fault extends Error {
  /**
   * @param {string} message
   * @param {number} exitCode
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a script's main function; its result is the exit code.
 * @param {() => Promise<number>} main
 */
export async function runMain(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Fault ? error.message : error);
    process.exitCode = error instanceof Fault ? error.exitCode : 1;
  }
}
