import type { RunningCommand } from '../../client/index.ts';
import type { Io } from '../io/io.ts';

const AFTER_MS = 1000;

/** Says once on standard error that the service does not answer, when that has lasted for a second. */
export function lostNote(io: Io) {
  let timer: NodeJS.Timeout | undefined;
  let running: RunningCommand | undefined;
  const note = (): void => {
    if (running?.isConnected) timer = undefined;
    else io.err.write('No connection to the service, trying again…\n');
  };
  return {
    begin: (): void => {
      timer ??= setTimeout(note, AFTER_MS);
    },
    /** From now on it is connected or not as this command is. */
    of: (command: RunningCommand): void => {
      running = command;
    },
    end: (): void => clearTimeout(timer),
  };
}
