import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import type { BufferedRange } from '../../../domain/terminals/terminal-resume.ts';
import type { OutputRoom } from '../../../ports/containers/container-runtime.ts';
import type { ScreenSize, Screens } from '../../../ports/terminals/headless-terminal.ts';
import type { LookedBack, PtyStream } from '../../../ports/terminals/terminal-backend.ts';
import { latest } from './latest-only.ts';
import { outputLog } from './output-buffer.ts';
import type { OutputTurns } from './read-scheduler.ts';
import { readPace } from './read-throttle.ts';
import { type Picture, screenHistory, snapshotOfBuffer } from './screen-snapshot.ts';

/** Output kept for a client that comes back. What nobody has confirmed is always part of it. */
const KEEP_BYTES = 2_097_152;
/** Unconfirmed output at which the program is paused, and at which it goes on. */
const PAUSE_BYTES = 1_048_576;
const RESUME_BYTES = 262_144;
/**
 * Input that waits for the program, at which its sender has to wait as well: more than a client may have under way, so
 * that its pongs, which let the output go on, are not held up behind its input.
 */
const MAX_INPUT_BYTES = 2_097_152;

export type Viewer = {
  /** There is more output, or the end. */
  more(): void;
};

/** Follows the output from now on, whoever views it, and never holds it up. */
export type Tap = {
  output(chunk: Buffer): void;
  resized(cols: number, rows: number): void;
};

/** A program's terminal as two byte streams with offsets, whoever shows it. */
export type TerminalStream = {
  readonly id: string;
  readonly muxSession: string | null;
  /** A plain shell, as the multiplexer could not start. */
  readonly isFallback: boolean;
  /** Begins to tell `viewer`, who has all output before `offset`, and nobody else. */
  show(viewer: Viewer, offset: number): void;
  /** One tap at a time; null for none. */
  tap(tap: Tap | null): void;
  bufferedRange(): BufferedRange;
  read(offset: number, maxBytes: number): Buffer;
  /** The buffered output from one offset up to another. */
  range(from: number, to: number): Buffer;
  /** The viewer has received all output before `offset`. */
  confirm(offset: number): void;
  unconfirmedBytes(): number;
  /** All output so far as a picture; null when none can be made. What a client has of it can not be resumed. */
  picture(): Promise<Picture | null>;
  /** The screen as it is now, for whoever only looks on; null when it can not be drawn, and before the first output. */
  snapshot(): Promise<Picture | null>;
  /** Count of input bytes taken. */
  received(): number;
  /** Takes input; `done` when the engine has it. False when no more should come before `onDrain` tells. */
  write(chunk: Buffer, done: () => void): boolean;
  /** Once, when more input can be taken or the terminal has ended. */
  onDrain(then: () => void): void;
  /** All output has been read, and there will be no more. */
  over(): boolean;
  /** Milliseconds from its opening to its end; 0 while it goes on. */
  ranMs(): number;
  /** Waits for its end, and tells what it was. */
  ending(): Promise<StreamEnd>;
  /** What there is to scroll back to, as it is after the call. */
  lookBack(room?: OutputRoom): Promise<LookedBack>;
  /** Lets a multiplexer draw all of its screen once more; that is output like any other. */
  drawAnew(): Promise<void>;
  resize(cols: number, rows: number): Promise<void>;
  /** Ends what runs in the container for it, or leaves that to a container that goes down. */
  end(withContainer?: boolean): Promise<void>;
};

/** What draws a terminal for a client that missed too much; a multiplexer does that by itself. */
export type Drawing = { readonly screens: Screens; readonly size: ScreenSize };

/** Reads a terminal as fast as it is received, and lets its program wait when it is not: nothing is thrown away. */
export function terminalStream(
  id: string,
  pty: PtyStream,
  onOver: () => void,
  turns: OutputTurns,
  drawing: Drawing | null = null,
): TerminalStream {
  const { stream, muxSession, bytes = { in: 0, out: 0 } } = pty;
  const log = outputLog(KEEP_BYTES, (forgotten, at) => history?.forgets(forgotten, at));
  const history =
    drawing === null || muxSession !== null ? null : screenHistory(log, drawing.screens, drawing.size);
  const pace = readPace(stream, turns);
  let size = drawing?.size;
  let exactFrom = 0;
  let viewer: Viewer | null = null;
  let tap: Tap | null = null;
  let confirmed = 0;
  let received = 0;
  let over = false;
  const openedAtMs = performance.now();
  let ranMs = 0;
  const resized = latest(({ cols, rows }: ScreenSize) => pty.resize(cols, rows));

  const unconfirmedBytes = (): number => log.end() - confirmed;
  const pauseWhenFull = (): void => {
    if (unconfirmedBytes() >= PAUSE_BYTES) pace.pause();
  };
  stream.on('data', (chunk: Buffer) => {
    log.append(chunk);
    tap?.output(chunk);
    bytes.out += chunk.length;
    pace.took(chunk.length);
    pauseWhenFull();
    viewer?.more();
    history?.grown();
  });
  const finish = (): void => {
    over = true;
    ranMs = performance.now() - openedAtMs;
    viewer?.more();
    onOver();
  };
  if (stream.closed) setImmediate(finish);
  else stream.once('close', finish);

  const confirm = (offset: number): void => {
    confirmed = Math.max(confirmed, Math.min(offset, log.end()));
    if (pace.isPaused() && unconfirmedBytes() <= RESUME_BYTES) pace.resume();
  };
  return {
    id,
    muxSession,
    isFallback: pty.isFallback === true,
    show(next, offset) {
      viewer = next;
      confirmed = Math.min(confirmed, offset);
      confirm(offset);
      // What is read anew must not be pushed out by what comes meanwhile.
      pauseWhenFull();
    },
    tap(next) {
      tap = next;
    },
    bufferedRange: () => ({ start: log.start(), end: log.end(), exactFrom }),
    read: log.read,
    range: log.range,
    confirm,
    unconfirmedBytes,
    async picture() {
      const picture = (await history?.picture()) ?? null;
      if (picture !== null) exactFrom = Math.max(exactFrom, picture.offset);
      return picture;
    },
    async snapshot() {
      if (drawing === null || log.end() === 0) return null;
      if (history !== null) return await history.picture(false);
      const picture = await snapshotOfBuffer(log, drawing.screens, size ?? drawing.size);
      // What was forgotten may still be on the screen.
      if (log.start() > 0) void pty.drawAnew();
      return picture;
    },
    received: () => received,
    write(chunk, done) {
      received += chunk.length;
      bytes.in += chunk.length;
      if (!stream.writable) return true;
      pty.write(chunk, done);
      return stream.writableLength < MAX_INPUT_BYTES;
    },
    onDrain(then) {
      const once = (): void => {
        stream.off('drain', once).off('close', once);
        then();
      };
      stream.on('drain', once).on('close', once);
    },
    over: () => over,
    ranMs: () => ranMs,
    ending: pty.ending,
    lookBack: pty.lookBack,
    drawAnew: pty.drawAnew,
    resize(cols, rows) {
      size = { cols, rows };
      tap?.resized(cols, rows);
      history?.resized({ cols, rows });
      return resized({ cols, rows });
    },
    async end(withContainer = false) {
      viewer = null;
      history?.end();
      if (withContainer) stream.destroy();
      else await pty.close();
    },
  };
}
