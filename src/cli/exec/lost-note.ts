import type { BerthError, RunningCommand } from '../../client/index.ts';
import type { Io } from '../io/io.ts';

const AFTER_MS = 1000;

/** Says once on standard error why the service does not start or continue a command, when that has lasted for a second. */
export function lostNote(io: Io) {
  let timer: NodeJS.Timeout | undefined;
  let why: BerthError | null = null;
  let running: RunningCommand | undefined;
  const note = (): void => {
    if (running?.isConnected) timer = undefined;
    else if (why === null) io.err.write('No connection to the server, trying again…\n');
    else io.err.write(`Not started yet: ${why.message}. Trying again…\n`);
  };
  return {
    begin: (reason: BerthError | null): void => {
      why = reason;
      timer ??= setTimeout(note, AFTER_MS);
    },
    /** From now on it is connected or not as this command is. */
    of: (command: RunningCommand): void => {
      running = command;
    },
    end: (): void => clearTimeout(timer),
  };
}
