import { poll } from '../../concurrency/poll.ts';
import type { RequestOrigin } from '../../domain/identity/caller.ts';
import { ok, refuse } from '../../domain/result.ts';
import type { Recording } from '../../domain/terminals/recording.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import type { Terminals } from '../terminals/terminals.ts';
import type { ActiveRecordings } from './active-recordings.ts';
import type { RecordingMessages } from './recording-messages.ts';

/** A process that has not begun within this time no longer has the terminal. */
const BEGIN = { withinMs: 3_000, everyMs: 50 };

export type RemoteRecordingsDeps = {
  readonly repositories: Pick<Repositories, 'recordings' | 'terminals'>;
  readonly live: Pick<ActiveRecordings, 'begin' | 'hasRoom'>;
  readonly terminals: Pick<Terminals, 'find'>;
  readonly messages: RecordingMessages;
  readonly log: Logger;
};

/** Starts and stops recordings of terminals in other processes. */
export function remoteRecordings({ repositories, live, terminals, messages, log }: RemoteRecordingsDeps) {
  messages.subscribe({
    start({ terminal, containerName, ...origin }) {
      const open = terminals.find(terminal);
      if (open === null) return;
      live
        .begin(open, { containerName, origin, includesBuffered: false })
        .catch((err: unknown) => log.warn({ err }, 'a terminal could not be recorded'));
    },
  });

  return {
    /** Asks the terminal's process to record it. The owner of the key may do so. */
    async begin(key: TerminalKey, containerName: string, origin: RequestOrigin): AsyncResult<Recording> {
      const [there] = await repositories.terminals.newest([key]);
      if (there === undefined) return refuse({ code: 'terminal_not_open' });
      const { id, userId, dbId, connectionId, replica } = there;
      if (!(await live.hasRoom(userId))) return refuse({ code: 'recording_quota_reached' });
      messages.start({ terminal: id, containerName, ...origin });
      const begun = await poll(async () => {
        const going = await repositories.recordings.activeIn(dbId);
        // A killed process's recording does not count.
        const isBegun = (one: Recording): boolean =>
          one.replica === replica && one.userId === userId && one.connectionId === connectionId;
        return going.find(isBegun) ?? null;
      }, BEGIN);
      return begun === null ? refuse({ code: 'terminal_not_open' }) : ok(begun);
    },
  };
}
