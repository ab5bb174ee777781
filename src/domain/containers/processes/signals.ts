/** Signals that a client may send, with their numbers on Linux. */
export const SIGNALS = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  KILL: 9,
  USR1: 10,
  USR2: 12,
  TERM: 15,
  CONT: 18,
  STOP: 19,
} as const;

export type ProcessSignal = keyof typeof SIGNALS;

/** Signals that end a program by themselves, by number. */
const FATAL: Readonly<Record<number, string>> = {
  1: 'HUP',
  2: 'INT',
  3: 'QUIT',
  4: 'ILL',
  5: 'TRAP',
  6: 'ABRT',
  7: 'BUS',
  8: 'FPE',
  9: 'KILL',
  10: 'USR1',
  11: 'SEGV',
  12: 'USR2',
  13: 'PIPE',
  14: 'ALRM',
  15: 'TERM',
  24: 'XCPU',
  25: 'XFSZ',
  31: 'SYS',
};

/** The signal that an exit code stands for; a program may also exit with that code by itself. */
export const signalOfExit = (exitCode: number): string | null => FATAL[exitCode - 128] ?? null;
