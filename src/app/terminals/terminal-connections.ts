import type { RequestOrigin } from '../../domain/identity/caller.ts';
import type { RecordingNotice } from '../../domain/terminals/recording.ts';
import type { CloseReason, TerminalKey } from '../../domain/terminals/terminal.ts';
import type { TerminalClient } from '../../domain/terminals/terminal-client.ts';
import type {
  NewTerminalRecord,
  TerminalRecordRepository,
} from '../../ports/terminals/terminal-record-repository.ts';
import type { TerminalStream } from './output/terminal-stream.ts';

export type TerminalConnection = {
  close(reason: CloseReason): void;
  /** A recording of what it shows has started or ended. */
  notify(notice: RecordingNotice): void;
  /** Shows a message to its user. */
  show(message: string): void;
};

/** One terminal socket of this process. */
export type LiveTerminal = {
  readonly id: string;
  readonly key: TerminalKey;
  readonly userId: string;
  /** A recreate does not change it. */
  readonly dbId: string;
  readonly connectionId: string;
  readonly owner: boolean;
  readonly client: TerminalClient;
  readonly ipAddress: string;
  readonly connection: TerminalConnection;
  muxSession: string | null;
  cols: number;
  rows: number;
  lastPingAt: Date;
  /** Since the last write of pings. */
  wasPinged: boolean;
  /** By the database's clock; null before its record is written. */
  recordedAt: Date | null;
};

/** Follows the terminals of this process, to record them. */
export type TerminalObserver = {
  opened(key: TerminalKey, stream: TerminalStream): void;
  emptied(key: TerminalKey): void;
  /** Records from the first byte. The terminal opens even without its recording; returns why there is none. */
  recordOnOpen(
    terminal: LiveTerminal,
    containerName: string,
    origin: RequestOrigin,
  ): Promise<RecordingNotice | null>;
  /** Reads the recordings of this terminal in other processes; the result returns the present one, if any. */
  recordingOf(terminal: LiveTerminal): Promise<() => RecordingNotice | null>;
  /** Of recordings in any process. */
  onNotice(listener: (notice: RecordingNotice) => void): void;
};

const PING_EVERY_MS = 15_000;

export type ConnectionRecords = ReturnType<typeof connectionRecords>;

/** Keeps the records of open terminals up to date; `open` has those of this process by id. */
export function connectionRecords(
  open: { all(): readonly LiveTerminal[]; find(id: string): LiveTerminal | null },
  monotonicMs: () => number,
  replica: string,
) {
  const resized = new Set<LiveTerminal>();
  let writtenMs = monotonicMs();

  return {
    resize(entry: LiveTerminal, cols: number, rows: number): void {
      Object.assign(entry, { cols, rows });
      if (entry.recordedAt !== null) resized.add(entry);
    },

    recordOf: ({
      connection: _,
      lastPingAt: __,
      wasPinged: ___,
      recordedAt: ____,
      ...entry
    }: LiveTerminal): NewTerminalRecord => ({
      ...entry,
      replica,
    }),

    /** Writes new sizes and, less often, pings; removes the records of dead processes. */
    async writeDue(records: TerminalRecordRepository): Promise<void> {
      const sizes = [...resized];
      resized.clear();
      await records.resize(sizes.map(({ id, cols, rows }) => ({ id, cols, rows })));
      const nowMs = monotonicMs();
      if (nowMs - writtenMs < PING_EVERY_MS) return;
      const entries = open.all().filter(({ wasPinged, recordedAt }) => wasPinged && recordedAt !== null);
      const pinged = entries.map((entry) => ({
        ...this.recordOf(entry),
        createdAt: entry.recordedAt ?? entry.lastPingAt,
      }));
      for (const entry of entries) entry.wasPinged = false;
      await records.ping(pinged).catch((error: unknown) => {
        for (const entry of entries) entry.wasPinged = true;
        throw error;
      });
      writtenMs = nowMs;
      // A ping may have restored one that has ended meanwhile.
      await records.remove(pinged.filter(({ id }) => open.find(id) === null).map(({ id }) => id));
      await records.sweep();
    },
  };
}
