import { CLOSE, type CloseReason, type TerminalKey } from '../domain/terminal.ts';
import type { Clock } from '../ports/clock.ts';
import type { TerminalRecords } from '../ports/terminal-records.ts';

/** The socket as the use cases see it. */
export type TerminalConnection = { close(reason: CloseReason): void };

/** A terminal session of this process. */
export type LiveTerminal = {
  readonly id: string;
  readonly key: TerminalKey;
  readonly userId: string;
  readonly username: string;
  /** Id of the container's row, which a recreate does not change. */
  readonly containerId: string;
  readonly containerName: string;
  readonly connectionId: string;
  readonly owner: boolean;
  readonly createdAt: Date;
  readonly connection: TerminalConnection;
  muxSession: string | null;
  cols: number;
  rows: number;
  lastPingAt: Date;
};

const PING_EVERY_MS = 15_000;
/** Peers are pinged every 30 s. */
const SILENT_SECONDS = 75;

/** Terminals of this process by their key, and their records for all processes. */
export function liveTerminals(clock: Clock) {
  const live = new Map<TerminalKey, LiveTerminal>();
  let writtenAt = clock.now();

  return {
    /** Closes and replaces the one under the same key. */
    register(entry: LiveTerminal): void {
      live.get(entry.key)?.connection.close(CLOSE.replaced);
      live.set(entry.key, entry);
    },

    /** The late close of a replaced socket must not remove its successor, hence the identity check. */
    unregister(entry: LiveTerminal): void {
      if (live.get(entry.key) === entry) live.delete(entry.key);
    },

    /** Newest first. */
    list: (): readonly LiveTerminal[] => [...live.values()].reverse(),

    find: (id: string): LiveTerminal | null => [...live.values()].find((entry) => entry.id === id) ?? null,

    close(reason: CloseReason, which: (entry: LiveTerminal) => boolean = () => true): void {
      for (const entry of live.values()) if (which(entry)) entry.connection.close(reason);
    },

    /** Writes the pings since the last time, and removes the records of processes that died; both seldom. */
    async writeDue(records: TerminalRecords): Promise<void> {
      const now = clock.now();
      if (now.getTime() - writtenAt.getTime() < PING_EVERY_MS) return;
      const pinged = [...live.values()].filter(({ lastPingAt }) => lastPingAt >= writtenAt);
      writtenAt = now;
      await records.ping(pinged.map(({ id, userId, containerId }) => ({ id, userId, containerId })));
      await records.sweep(SILENT_SECONDS);
    },
  };
}
