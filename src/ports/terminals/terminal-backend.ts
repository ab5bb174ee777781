import type { Duplex } from 'node:stream';
import type { OpenFault, StreamEnd } from '../../domain/terminals/terminal-end.ts';
import type { Leftovers } from '../../domain/terminals/terminal-reaping.ts';
import type { RuntimeHandle } from '../containers/container-runtime.ts';
import type { TerminalBytes } from '../metrics.ts';
import type { OutputRoom } from '../output-room.ts';

export type TerminalRequest = {
  readonly cols: number;
  readonly rows: number;
  /**
   * The multiplexer session to attach to, created when absent. Images without a multiplexer get a plain login shell;
   * `PtyStream.muxSession` tells which.
   */
  readonly muxSession: string;
  /** End an existing session of that name first, for a new shell. */
  readonly forceNew: boolean;
  /**
   * Attaches another user than the session's owner. The window's size counts only while nobody else is attached.
   * `view`: input has no effect. `control`: the user gets a session of this name, which shares the windows of
   * `muxSession`.
   */
  readonly sharedAs?: { readonly mode: 'view' } | { readonly mode: 'control'; readonly session: string };
  /** Set as BERTH_TERM in the environment of the whole process tree, to find and end it. */
  readonly marker: string;
  /** Shell of the catalogue image, for example /bin/bash. */
  readonly shell: string;
  /** The program starts once this resolves, and never when it rejects; the rest of the opening does not wait. */
  readonly startAfter?: Promise<unknown>;
  /**
   * Called at most once, when the program has started and its first output is awaited, with the session that the
   * terminal will have unless the multiplexer fails after all.
   */
  readonly onStarted?: (muxSession: string | null) => void;
};

/** A shell in a multiplexer at one moment: its newest history and, without a gap, its screen. */
export type ScrollbackSnapshot = {
  readonly cols: number;
  readonly rows: number;
  /** All rows above the screen, including those too old for `text`. */
  readonly historyRows: number;
  /** On the screen, from 0. */
  readonly cursorX: number;
  readonly cursorY: number;
  /**
   * Lines, with colours as escape sequences. A terminal of the same size wraps them to the same rows, of which the last
   * `rows` are the screen.
   */
  readonly text: string;
};

/**
 * What a terminal shows. `full_screen`: one program, such as vim or less, uses all of it. `snapshot` is null without a
 * multiplexer, whose client has all lines, and when none could be taken.
 */
export type Scrollback =
  | { readonly program: 'full_screen' }
  | { readonly program: 'shell'; readonly snapshot: ScrollbackSnapshot | null };

/** A live pseudo-terminal. Pausing the stream stops the program: back-pressure reaches the engine. */
export interface PtyStream {
  /**
   * Output, binary-safe. `end` or `close`: the program or the connection ended. Input enters by `write` alone.
   */
  readonly stream: Duplex;
  /**
   * Writes input, binary-safe: every byte reaches the program, wherever writes are cut. A partial character may wait
   * briefly; `done` when the engine has all of this input.
   */
  write(input: Buffer | string, done?: () => void): void;
  /** Counters of its bytes, if any. */
  readonly bytes?: TerminalBytes;
  /** null when the image has no multiplexer, or it could not start. */
  readonly muxSession: string | null;
  /** The multiplexer could not start: this is a plain shell. */
  readonly isFallback?: boolean;
  /** cols and rows from 1 to 1000. Never throws after the end. */
  resize(cols: number, rows: number): Promise<void>;
  /**
   * The scrollback, which a multiplexer keeps and does not draw completely. `room`: how much may be buffered; without
   * it there is no snapshot. Never throws.
   */
  requestScrollback(room?: OutputRoom): Promise<Scrollback>;
  /** Makes a multiplexer redraw its whole screen. Never throws. */
  redraw(): Promise<void>;
  /** Waits for the end of the stream and returns it. Never throws. */
  ending(): Promise<StreamEnd>;
  /**
   * Ends this attachment's processes; the multiplexer session keeps running. Throws when they remain, and can be
   * repeated.
   */
  close(): Promise<void>;
}

/** The shell of a new terminal in a running container did not start. */
export class TerminalNotStarted extends Error {
  override name = 'TerminalNotStarted';
  readonly fault: OpenFault;
  constructor(fault: OpenFault) {
    super(`the terminal did not start: ${fault}`);
    this.fault = fault;
  }
}

export interface TerminalBackend {
  /**
   * Opens a plain shell if the multiplexer does not start. Throws `TerminalNotStarted` when no shell starts, and engine
   * errors.
   */
  open(handle: RuntimeHandle, request: TerminalRequest): Promise<PtyStream>;
  /** Throws `RuntimeBusy` when this process cannot reach the container now, though it runs. */
  checkReach(handle: RuntimeHandle): Promise<void>;
  /** Whether sessions of this running container can be shared. */
  hasMultiplexer(handle: RuntimeHandle): Promise<boolean>;
  /**
   * Ends the multiplexer session and its programs; one grouped with others ends alone. Succeeds when it is absent, or
   * when `isWanted`, called just before, says so. Throws when it remains.
   */
  killMuxSession(handle: RuntimeHandle, muxSession: string, isWanted?: () => Promise<boolean>): Promise<void>;
  /** What all terminals of a running container have left in it. */
  leftovers(handle: RuntimeHandle): Promise<Leftovers>;
  /**
   * Ends every program with this marker and its children: SIGHUP, then SIGKILL after 5 s. Never throws; `leftovers`
   * shows the result.
   */
  endMarked(handle: RuntimeHandle, marker: string): Promise<void>;
}
