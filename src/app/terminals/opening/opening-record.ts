import type { Storage } from '../../../ports/storage.ts';
import type { ConnectionRecords, LiveTerminal } from '../terminal-connections.ts';
import { recordAnew, recordOpened } from '../terminal-records.ts';
import type { TerminalGrant } from './terminal-target.ts';

type OpeningRecordDeps = {
  readonly storage: Pick<Storage, 'inTransaction'>;
  readonly connections: Pick<ConnectionRecords, 'recordOf'>;
};

export type OpeningRecord = ReturnType<typeof openingRecord>;

/** The record of one opening, written while the program starts: it must be there before anything is shown. */
export function openingRecord(
  { storage, connections }: OpeningRecordDeps,
  grant: TerminalGrant,
  entry: LiveTerminal,
) {
  let written: Promise<void> | null = null;

  async function write(muxSession: string | null): Promise<void> {
    entry.muxSession = muxSession;
    const record = connections.recordOf(entry);
    entry.recordedAt = await storage.inTransaction((tx) => recordOpened(tx, record, grant));
  }

  return {
    /** Writes it before the terminal is there. A failure is reported by `complete`. */
    begin(muxSession: string | null): void {
      written = write(muxSession);
      written.catch(() => {});
    },

    /** Resolves when the open terminal is on record in the session that it has. */
    async complete(muxSession: string | null): Promise<void> {
      written ??= write(muxSession);
      await written;
      if (entry.muxSession === muxSession) return;
      entry.muxSession = muxSession;
      const record = connections.recordOf(entry);
      entry.recordedAt = await storage.inTransaction((tx) => recordAnew(tx, record));
    },

    /** Resolves when nothing is being written. */
    settled: async (): Promise<void> => void (await written?.catch(() => {})),
  };
}
