import type { Origin } from '../../domain/identity/caller.ts';
import type { RecordingNotice } from '../../domain/terminals/recording.ts';
import type { CloseReason, TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  NewTerminalRecord,
  TerminalRecordRepository,
} from '../../ports/terminals/terminal-record-repository.ts';
import type { TerminalStream } from './output/terminal-stream.ts';

/** The socket as the use cases see it. */
export type TerminalConnection = {
  close(reason: CloseReason): void;
  /** That a recording of what it shows began or ended. */
  notify(notice: RecordingNotice): void;
};

/** A terminal session: one socket of this process. */
export type LiveTerminal = {
  readonly id: string;
  readonly key: TerminalKey;
  readonly userId: string;
  /** Id of the container's row, which a recreate does not change. */
  readonly dbId: string;
  readonly connectionId: string;
  readonly owner: boolean;
  readonly connection: TerminalConnection;
  muxSession: string | null;
  cols: number;
  rows: number;
  lastPingAt: Date;
  /** When its record was written, by the database's clock; null before. */
  recordedAt: Date | null;
};

/** What follows the terminals of this process and may record them. */
export type TerminalObserver = {
  /** A terminal has a new stream. */
  opened(key: TerminalKey, stream: TerminalStream): void;
  /** A terminal is gone. */
  emptied(key: TerminalKey): void;
  /** Records from the first byte on. A terminal without its recording is better than none: why there is none. */
  recordOnOpen(
    terminal: LiveTerminal,
    containerName: string,
    origin: Origin,
  ): Promise<RecordingNotice | null>;
  /** Reads which recordings other processes make of this terminal; then tells the one that there is now, if any. */
  recordingOf(terminal: LiveTerminal): Promise<() => RecordingNotice | null>;
  /** In whichever process a recording begins or ends. */
  onNotice(listener: (notice: RecordingNotice) => void): void;
};

const PING_EVERY_MS = 15_000;

export type TerminalConnections = ReturnType<typeof terminalConnections>;

/** The open sockets of terminals in this process, and their records for all processes. */
export function terminalConnections(clock: Clock, replica: string) {
  const live = new Map<string, LiveTerminal>();
  const resized = new Set<LiveTerminal>();
  let writtenAt = clock.now();

  return {
    add: (entry: LiveTerminal): void => void live.set(entry.id, entry),
    remove: ({ id }: LiveTerminal): void => void live.delete(id),
    all: (): readonly LiveTerminal[] => [...live.values()],
    count: (): number => live.size,
    find: (id: string): LiveTerminal | null => live.get(id) ?? null,

    /** The newest of that key. */
    underKey: (key: TerminalKey): LiveTerminal | null =>
      [...live.values()].findLast((entry) => entry.key === key) ?? null,

    resize(entry: LiveTerminal, cols: number, rows: number): void {
      Object.assign(entry, { cols, rows });
      if (entry.recordedAt !== null) resized.add(entry);
    },

    recordOf: ({
      connection: _,
      lastPingAt: __,
      recordedAt: ___,
      ...entry
    }: LiveTerminal): NewTerminalRecord => ({
      ...entry,
      replica,
    }),

    /** Writes new sizes; seldom, the pings since the last time, and removes the records of processes that died. */
    async writeDue(records: TerminalRecordRepository): Promise<void> {
      const sizes = [...resized];
      resized.clear();
      await records.resize(sizes.map(({ id, cols, rows }) => ({ id, cols, rows })));
      const now = clock.now();
      if (now.getTime() - writtenAt.getTime() < PING_EVERY_MS) return;
      const pinged = [...live.values()].flatMap((entry) =>
        entry.lastPingAt >= writtenAt && entry.recordedAt !== null
          ? [{ ...this.recordOf(entry), createdAt: entry.recordedAt }]
          : [],
      );
      await records.ping(pinged);
      writtenAt = now;
      // One that ended meanwhile may have been put back.
      await records.remove(pinged.filter(({ id }) => !live.has(id)).map(({ id }) => id));
      await records.sweep();
    },
  };
}
