import type { Duplex } from 'node:stream';
import type { OpenFault, StreamEnd } from '../../domain/terminals/terminal-end.ts';
import type { Leftovers } from '../../domain/terminals/terminal-reaping.ts';
import type { OutputRoom, RuntimeHandle } from '../containers/container-runtime.ts';
import type { TerminalBytes } from '../metrics.ts';

export type TerminalRequest = {
  readonly cols: number;
  readonly rows: number;
  /**
   * Name of the multiplexer session to attach to, made when absent. Images without a multiplexer get a plain
   * login shell instead; `PtyStream.muxSession` tells which it was.
   */
  readonly muxSession: string;
  /** End the session of that name first, so that a fresh shell answers. */
  readonly forceNew: boolean;
  /**
   * Shows the session to somebody else than its owner, whose size counts only while nobody else is attached. `view`: what
   * they type has no effect. `control`: they get a session of this name, which shares the windows of `muxSession`.
   */
  readonly sharedAs?: { readonly mode: 'view' } | { readonly mode: 'control'; readonly session: string };
  /** Set as BERTH_TERM in the environment of the whole process tree, so that it can be found and ended. */
  readonly marker: string;
  /** Shell of the catalogue image, for example /bin/bash. */
  readonly shell: string;
};

/** What is on a terminal that somebody wants to scroll back. `full_screen`: one program, such as vim or less, has all of it. */
export type OnScreen = 'shell' | 'full_screen';

/** A shell inside a multiplexer at one moment: the newest of its history and, without a gap, its screen. */
export type ScrollbackSnapshot = {
  readonly cols: number;
  readonly rows: number;
  /** Rows above the screen, also those that are too old for `text`. */
  readonly historyRows: number;
  /** On the screen, from 0. */
  readonly cursorX: number;
  readonly cursorY: number;
  /**
   * Lines with a line feed between them and their colours as escape sequences. A terminal of the same size wraps them to the same
   * rows; the last `rows` of these are the screen.
   */
  readonly text: string;
};

/** `snapshot` is null without a multiplexer, whose client has all lines, and when none could be taken. */
export type Scrollback =
  | { readonly program: 'full_screen' }
  | { readonly program: 'shell'; readonly snapshot: ScrollbackSnapshot | null };

/** A live pseudo-terminal. Pausing the stream stops the program: back-pressure reaches the engine. */
export interface PtyStream {
  /**
   * Output, binary-safe. `end` or `close` when the program or the connection ended. Input that waits for the program counts as
   * its `writableLength`, and `drain` tells that more can be taken; but input goes in by `write` alone.
   */
  readonly stream: Duplex;
  /**
   * Takes input, binary-safe: every byte reaches the program, wherever one write ends and the next begins. Part of a
   * character may be held back for a moment; `done` when the engine has all of this input.
   */
  write(input: Buffer | string, done?: () => void): void;
  /** Where its bytes are counted, if anywhere. */
  readonly bytes?: TerminalBytes;
  /** null when the image has no multiplexer, and when it could not start. */
  readonly muxSession: string | null;
  /** The image has a multiplexer that could not start: this is a plain shell. */
  readonly isFallback?: boolean;
  /** cols and rows from 1 to 1000. Never throws after the end. */
  resize(cols: number, rows: number): Promise<void>;
  /**
   * What there is to scroll back to. A multiplexer does not draw all that scrolls by, but keeps it. `room`: how much of it may be
   * kept; without more of it there is no snapshot. Never throws.
   */
  requestScrollback(room?: OutputRoom): Promise<Scrollback>;
  /** Where a multiplexer draws: it draws all of its screen once more. Never throws. */
  drawAnew(): Promise<void>;
  /** Waits for the end of the stream, and tells what it was. Never throws. */
  ending(): Promise<StreamEnd>;
  /**
   * Detaches: ends this attachment's processes, and leaves the multiplexer session running. Throws when they go on, and can
   * be called again.
   */
  close(): Promise<void>;
}

/** A terminal was to be opened in a container that runs, and its shell did not begin. */
export class TerminalNotStarted extends Error {
  override name = 'TerminalNotStarted';
  readonly fault: OpenFault;
  constructor(fault: OpenFault) {
    super(`the terminal did not start: ${fault}`);
    this.fault = fault;
  }
}

/** Opens terminals inside containers. */
export interface TerminalBackend {
  /**
   * A plain shell where the multiplexer does not start. Throws `TerminalNotStarted` when no shell begins, and what every
   * call to an engine throws.
   */
  open(handle: RuntimeHandle, request: TerminalRequest): Promise<PtyStream>;
  /** Whether sessions of this running container can be shown to several. */
  hasMultiplexer(handle: RuntimeHandle): Promise<boolean>;
  /**
   * Ends the multiplexer session and all that runs in it; one that shares its windows ends alone. Absent is success, and
   * so is one that is wanted after all, which is asked just before. Throws when it is still there.
   */
  killMuxSession(handle: RuntimeHandle, muxSession: string, isWanted?: () => Promise<boolean>): Promise<void>;
  /** What is there of all terminals, whoever opened them. The container runs. */
  leftovers(handle: RuntimeHandle): Promise<Leftovers>;
  /**
   * Ends every program with this marker, and what they started: hung up on, and killed after 5 s. Never throws; whether it
   * worked is seen in `leftovers`.
   */
  endMarked(handle: RuntimeHandle, marker: string): Promise<void>;
}
