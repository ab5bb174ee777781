/**
 * What the command's exit code says, also in `docs/cli.md`. `exec`, `attach`, `shell` and `ssh` end with the exit code
 * of their program.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  notSignedIn: 4,
  /** Of `exec`: the program reached its time limit; `timeout` uses the same code. */
  timedOut: 124,
  interrupted: 130,
} as const;
