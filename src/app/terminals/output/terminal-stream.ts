import type { TerminalSize } from '../../../domain/terminals/terminal.ts';
import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import type { BufferedRange } from '../../../domain/terminals/terminal-resume.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import type { Scrollback } from '../../../ports/terminals/terminal-backend.ts';
import type { ScreenSnapshot } from './screen-snapshot.ts';

export type Viewer = {
  /** There is more output, or the end. */
  more(): void;
};

/** Follows the output independently of viewers, without delaying it. */
export type Tap = {
  output(chunk: Buffer): void;
  resized(cols: number, rows: number): void;
};

/** A program's terminal as two byte streams with offsets, independent of viewers. */
export type TerminalStream = {
  readonly id: string;
  readonly muxSession: string | null;
  /** A plain shell, because the multiplexer could not start. */
  readonly isFallback: boolean;
  /** Makes `viewer`, which has all output before `offset`, the only one to be notified. */
  show(viewer: Viewer, offset: number): void;
  /** One tap at a time; null removes it. */
  tap(tap: Tap | null): void;
  bufferedRange(): BufferedRange;
  read(offset: number, maxBytes: number): Buffer;
  range(from: number, to: number): Buffer;
  /** The viewer has received all output before `offset`. */
  confirm(offset: number): void;
  unconfirmedBytes(): number;
  /** The program is not read until the viewer confirms more. */
  isPaused(): boolean;
  /** A snapshot of all output so far; null when impossible. Resumes inside it are not possible. */
  clientSnapshot(): Promise<ScreenSnapshot | null>;
  /** The present screen, for a viewer; null when it cannot be drawn, and before the first output. */
  recordingSnapshot(): Promise<ScreenSnapshot | null>;
  /** The count of accepted input bytes. */
  received(): number;
  /** Accepts input; `done` when the engine has it. False: wait for `onDrain` before sending more. */
  write(chunk: Buffer, done: () => void): boolean;
  /** Called once, when more input is possible or the terminal has ended. */
  onDrain(then: () => void): void;
  /** All output has been read, and no more will come. */
  over(): boolean;
  /** Milliseconds from opening to end; 0 while it runs. */
  ranMs(): number;
  /** Waits for the end and returns it. */
  ending(): Promise<StreamEnd>;
  /** The scrollback at some moment after the call. */
  requestScrollback(room?: OutputRoom): Promise<Scrollback>;
  /** Makes a multiplexer redraw its screen, as normal output. */
  redraw(): Promise<void>;
  /** The present size; null when unknown. */
  size(): TerminalSize | null;
  resize(cols: number, rows: number): Promise<void>;
  /** Ends its programs in the container, or leaves that to a container going down. */
  end(withContainer?: boolean): Promise<void>;
};
