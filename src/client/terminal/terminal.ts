import type { ServerFrame } from '../../protocol/terminal-frames.ts';
import type { Backoff } from '../backoff.ts';
import { deferred } from '../deferred.ts';
import { FlowQueue } from '../flow-queue.ts';
import { Connection } from './connection.ts';
import type { ConnectionDeps, ConnectionState } from './connection-types.ts';
import type { EndReason, Size } from './terminal-protocol.ts';
import { type TerminalResume, toPoint, toResume } from './terminal-resume.ts';

export type TerminalOptions = {
  /** 80 by 24 by default. */
  readonly size?: Size;
  /** The pane: `main` by default, whose programs outlive the connection. */
  readonly session?: string;
  /** Continues where `detach` left off, in the same session. */
  readonly resume?: TerminalResume | null;
  /** Whether the output before `resume` is not shown: the screen is sent again instead of what is missing. */
  readonly onEmptyScreen?: boolean;
  /** Whether a new shell replaces what runs in the pane. */
  readonly fresh?: boolean;
  /** Whether to watch without typing. */
  readonly watch?: boolean;
  /** Whether the service records it from the first byte on. */
  readonly record?: boolean;
  /** Comes before output that does not continue the earlier one; a full reset of the terminal by default. */
  readonly beforeRedraw?: string;
  readonly onState?: (state: ConnectionState) => void;
  readonly onFrame?: (frame: ServerFrame) => void;
  /** Closes the terminal. */
  readonly signal?: AbortSignal;
  readonly backoff?: Backoff;
};

export type TerminalEnd = {
  readonly why: EndReason | 'detached';
  /** Of the program; null when unknown. */
  readonly exitCode: number | null;
};

const FULL_RESET = '\x1bc';

/**
 * A terminal of a container, kept across lost connections: input and output continue to the byte. Its output is for one
 * `for await`, which ends with the terminal. A slow loop slows the program.
 */
export class Terminal implements AsyncIterable<Uint8Array>, AsyncDisposable {
  /** Resolves at its end. */
  readonly closed: Promise<TerminalEnd>;
  readonly #session: string;
  readonly #connection: Connection;
  readonly #output: FlowQueue<Uint8Array>;
  readonly #closed = deferred<TerminalEnd>();
  #state: ConnectionState = { kind: 'connecting', trouble: 'line' };

  /** Not connected yet: `open` does that. */
  constructor(containerId: string, deps: ConnectionDeps, options: TerminalOptions) {
    const { size = { cols: 80, rows: 24 }, resume = null, onEmptyScreen = false } = options;
    const { session = resume?.session ?? 'main', fresh = false } = options;
    const { watch = false, record = false, beforeRedraw = FULL_RESET } = options;
    const prefix = new TextEncoder().encode(beforeRedraw);
    this.closed = this.#closed.promise;
    this.#session = session;
    this.#output = new FlowQueue(({ length }) => length, {
      pause: () => this.#connection.pauseOutput(),
      resume: () => this.#connection.resumeOutput(),
      left: () => this.close(),
    });
    const target = {
      containerId,
      connectionId: session,
      size,
      fresh,
      watch,
      record,
      ...(resume !== null && { resume: toPoint(resume, onEmptyScreen) }),
    };
    this.#connection = new Connection(target, deps, {
      state: (state) => {
        this.#enter(state);
        options.onState?.(state);
      },
      health: () => {},
      bytes: (data) => this.#output.push(data),
      resumed: (how) => {
        if (how === 'redraw' || how === 'other') this.#output.push(prefix);
      },
      frame: (frame) => options.onFrame?.(frame),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  open(): void {
    this.#connection.open();
  }

  /** Types text or bytes; they are kept until the service has them. */
  write(input: string | Uint8Array): void {
    this.#connection.write(typeof input === 'string' ? new TextEncoder().encode(input) : input);
  }

  resize(size: Size): void {
    this.#connection.resize(size);
  }

  /** Asks tmux to draw the whole screen again, as output. */
  redraw(): void {
    this.#connection.request('redraw', 0);
  }

  /** Tries to connect now instead of later. */
  nudge(): void {
    this.#connection.nudge();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array, void, undefined> {
    return this.#output.loop;
  }

  /** Takes output until it has this text; returns all of it up to there. Throws at the terminal's end. */
  async until(wanted: string | RegExp): Promise<string> {
    const decoder = new TextDecoder();
    const pieces: Uint8Array[] = [];
    let text = '';
    for (;;) {
      const { done, value } = await this.#output.loop.next();
      if (done) throw new Error(`the terminal ended before ${wanted}: ${text.slice(-1000)}`);
      pieces.push(value);
      text += decoder.decode(value, { stream: true });
      const end = endOf(text, wanted);
      if (end === null) continue;
      const taken = text.slice(0, end);
      this.#output.putBack(joined(pieces).subarray(new TextEncoder().encode(taken).length));
      return taken;
    }
  }

  /** Leaves it. Programs of `main` go on; those of another pane end. */
  close(): void {
    this.#connection.close();
    this.#finish({ why: 'closed', exitCode: null });
  }

  /**
   * Leaves it for a while: its programs wait for a return, 5 minutes in `main`, else 60 s. The loop gives the output
   * that has arrived, and ends. The result is for `resume`, in this process or another; null before the first
   * connection.
   */
  detach(): TerminalResume | null {
    const point = this.#connection.suspend();
    this.#finish({ why: 'detached', exitCode: null });
    return point === null ? null : toResume(this.#session, point);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    if (state.kind === 'over') this.#finish(state);
  }

  #finish({ why, exitCode }: TerminalEnd): void {
    this.#output.loop.end();
    this.#closed.resolve({ why, exitCode });
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Where the wanted text ends; null when it is not there. */
function endOf(text: string, wanted: string | RegExp): number | null {
  if (typeof wanted === 'string') {
    const at = text.indexOf(wanted);
    return at === -1 ? null : at + wanted.length;
  }
  const found = new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, '')).exec(text);
  return found === null ? null : found.index + found[0].length;
}
