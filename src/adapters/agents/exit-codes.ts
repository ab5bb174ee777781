import { constants } from 'node:os';

const SIGNALS: Readonly<Record<string, number>> = constants.signals;
const SIGNALLED = 128;

/** The exit code as a shell reports it: 128 and the signal's number after a signal; null when unknown. */
export function exitCodeOf(result: {
  readonly exit_code: number | null;
  readonly signal: string | null;
}): number | null {
  if (result.exit_code !== null) return result.exit_code;
  const number = result.signal === null ? undefined : SIGNALS[`SIG${result.signal.replace(/^SIG/, '')}`];
  return number === undefined ? null : SIGNALLED + number;
}
