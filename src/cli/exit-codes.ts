/** What the command's exit code says, also in `docs/cli.md`. `exec` and `ssh` end with their program's own. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  notSignedIn: 4,
  /** Of `exec`: the program's time is over, as `timeout` says it. */
  timedOut: 124,
  interrupted: 130,
} as const;
