import type { Origin } from '../../domain/identity/caller.ts';
import type { RecordingNotice } from '../../domain/terminals/recording.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { TerminalStream } from './output/terminal-stream.ts';
import type { LiveTerminal } from './terminal-connections.ts';

/** What follows the terminals of this process and may record them. */
export type TerminalObserver = {
  /** A terminal has a new stream. */
  opened(key: TerminalKey, stream: TerminalStream): void;
  /** A terminal is gone. */
  emptied(key: TerminalKey): void;
  /** Records from the first byte on. A terminal without its recording is better than none: why there is none. */
  recordAtOnce(
    terminal: LiveTerminal,
    containerName: string,
    origin: Origin,
  ): Promise<RecordingNotice | null>;
  /** Reads which recordings other processes make of this terminal; then tells the one that there is now, if any. */
  recordingOf(terminal: LiveTerminal): Promise<() => RecordingNotice | null>;
  /** In whichever process a recording begins or ends. */
  onNotice(listener: (notice: RecordingNotice) => void): void;
};
