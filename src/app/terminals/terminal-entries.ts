import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Slot } from '../../domain/terminals/terminal-slot-types.ts';
import type { TerminalTarget } from './opening/locate-terminal.ts';
import type { TerminalStream } from './output/terminal-stream.ts';
import type { LiveTerminal } from './terminal-connections.ts';

export type AttachRequest = {
  readonly terminal: LiveTerminal;
  readonly resumes: string | null;
  readonly forceNew: boolean;
  /** Called when its new program has started, in this session, before the stream is there. */
  started(muxSession: string | null): void;
};

/** Notified of every stream, and of keys without one. */
export type TerminalListener = {
  opened(key: TerminalKey, stream: TerminalStream): void;
  emptied(key: TerminalKey): void;
};

/** A key's state; `lostAt` is when the record of its last closed socket was made. */
export type Entry = { target: TerminalTarget; slot: Slot; lostAt: Date | null };
export type Entries = ReadonlyMap<TerminalKey, Entry>;

/** `target`: where it was opened; a later socket of its key may request another session. */
export type Opened = { readonly target: TerminalTarget; readonly stream: TerminalStream };

/** Whether the open stream and the new socket differ in mode: one may type, the other only view. */
export const isOtherMode = (entry: Entry, target: TerminalTarget): boolean =>
  entry.target.participation?.mode !== target.participation?.mode;

/** The terminals of lost clients, and how much output each keeps. */
export const keptIn = (entries: Entries, streams: ReadonlyMap<string, Opened>) =>
  [...entries.values()].flatMap(({ target, slot }) => {
    if (slot.kind !== 'kept') return [];
    const { start, end } = streams.get(slot.stream)?.stream.bufferedRange() ?? { start: 0, end: 0 };
    return [{ target, userId: target.userId, untilMs: slot.untilMs, bytes: end - start }];
  });
