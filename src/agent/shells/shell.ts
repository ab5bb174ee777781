import type { AgentNote, Channel, ChannelHandlers, ServiceNote } from '../../protocol/agent/index.ts';
import { OutputRing } from './output-ring.ts';
import { PseudoTerminal, type PseudoTerminalEnd, type PseudoTerminalOptions } from './pseudo-terminal.ts';

/** Kept for viewers that come back or are new. */
const KEEP_BYTES = 1_048_576;
/** What the slowest viewer has not been sent, at which the program is paused, and at which it continues. */
const PAUSE_BYTES = 262_144;
const RESUME_BYTES = 65_536;
const KILL_AFTER_MS = 5_000;

type Viewer = { readonly channel: Channel; offset: number };

export type ShellEvents = {
  /** Nobody views it any more, or somebody does. */
  readonly viewed: (shell: Shell, viewers: number) => void;
  readonly ended: (shell: Shell) => void;
};

/** A login shell in a pseudo-terminal, its newest output, and the channels that show it. */
export class Shell {
  readonly name: string;
  readonly startedAt = Date.now();
  cols: number;
  rows: number;
  readonly #terminal: PseudoTerminal;
  readonly #output = new OutputRing(KEEP_BYTES);
  readonly #viewers = new Map<Channel, Viewer>();
  readonly #events: ShellEvents;
  readonly #over = Promise.withResolvers<void>();
  #inputTaken = 0;
  #isPaused = false;
  #lastUse = performance.now();
  #killer: NodeJS.Timeout | null = null;

  /** Throws when the shell cannot be started. */
  constructor(name: string, options: PseudoTerminalOptions, events: ShellEvents) {
    this.name = name;
    this.cols = options.cols;
    this.rows = options.rows;
    this.#events = events;
    this.#terminal = new PseudoTerminal(options, {
      output: (bytes) => this.#emit(bytes),
      ended: (end) => this.#finish(end),
    });
  }

  get pid(): number {
    return this.#terminal.pid;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  get idleMs(): number {
    return Math.round(performance.now() - this.#lastUse);
  }

  /**
   * Shows it in a channel, from the byte after the first `after`, or from the oldest kept one. A `view` channel's input
   * is dropped.
   */
  show(channel: Channel, after: number | null, how: { created: boolean; view: boolean }): ChannelHandlers {
    const isExact = after !== null && after >= this.#output.start && after <= this.#output.end;
    const offset = isExact ? after : this.#output.start;
    channel.accept({
      type: 'shell',
      created: how.created,
      offset,
      redraw: !isExact && (after !== null || this.#output.end > 0),
      input_offset: this.#inputTaken,
      pid: this.pid,
      cols: this.cols,
      rows: this.rows,
      started_at: this.startedAt,
    });
    const viewer = { channel, offset };
    this.#viewers.set(channel, viewer);
    this.#events.viewed(this, this.#viewers.size);
    this.#send(viewer);
    this.#balance();
    return {
      data: (_stream, bytes) => this.#type(channel, bytes, how.view),
      note: (note) => this.#obey(channel, note as ServiceNote, how.view),
      room: () => {
        this.#send(viewer);
        this.#balance();
      },
      reset: () => this.#hide(channel),
    };
  }

  /** Hangs up, and kills after five seconds. Resolves when it has ended. */
  end(): Promise<void> {
    if (this.#killer === null) {
      this.#terminal.kill('HUP');
      this.#killer = setTimeout(() => this.#terminal.kill('KILL'), KILL_AFTER_MS);
    }
    return this.#over.promise;
  }

  #emit(bytes: Buffer): void {
    this.#lastUse = performance.now();
    // what a viewer has not been sent is never overwritten: the program is paused long before
    this.#output.append(bytes);
    for (const viewer of this.#viewers.values()) this.#send(viewer);
    this.#balance();
  }

  #send(viewer: Viewer): void {
    for (;;) {
      const bytes = this.#output.read(viewer.offset, viewer.channel.room);
      if (bytes.length === 0) return;
      viewer.offset += viewer.channel.write(bytes);
    }
  }

  /** Back-pressure: the program waits for its slowest viewer. Without viewers it runs on. */
  #balance(): void {
    const slowest = Math.min(this.#output.end, ...[...this.#viewers.values()].map(({ offset }) => offset));
    const unsent = this.#output.end - slowest;
    if (!this.#isPaused && unsent > PAUSE_BYTES) {
      this.#isPaused = true;
      this.#terminal.pause();
    } else if (this.#isPaused && unsent < RESUME_BYTES) {
      this.#isPaused = false;
      this.#terminal.resume();
    }
  }

  #type(channel: Channel, bytes: Uint8Array, isView: boolean): void {
    if (isView) {
      channel.consumed(bytes.length);
      return;
    }
    this.#lastUse = performance.now();
    this.#terminal.write(bytes, () => {
      this.#inputTaken += bytes.length;
      channel.consumed(bytes.length);
      this.#tell({ type: 'input', offset: this.#inputTaken });
    });
  }

  #obey(channel: Channel, note: ServiceNote, isView: boolean): void {
    if (isView) return;
    switch (note.type) {
      case 'resize':
        this.cols = note.cols;
        this.rows = note.rows;
        this.#terminal.resize(note.cols, note.rows);
        this.#tell({ type: 'size', cols: note.cols, rows: note.rows }, channel);
        return;
      case 'signal':
        this.#terminal.signal(note.signal);
        return;
      case 'redraw':
        this.#terminal.signal('WINCH');
        return;
      case 'end':
        void this.end();
        return;
    }
  }

  #tell(note: AgentNote, except?: Channel): void {
    for (const channel of this.#viewers.keys()) if (channel !== except) channel.note(note);
  }

  #hide(channel: Channel): void {
    if (!this.#viewers.delete(channel)) return;
    this.#events.viewed(this, this.#viewers.size);
    this.#balance();
  }

  /** Its viewers get the rest of the output before the result. */
  #finish({ exitCode, signal }: PseudoTerminalEnd): void {
    if (this.#killer !== null) clearTimeout(this.#killer);
    const result = { type: 'shell', exit_code: exitCode, signal } as const;
    for (const viewer of this.#viewers.values()) this.#sendRest(viewer, () => viewer.channel.finish(result));
    this.#over.resolve();
    this.#events.ended(this);
  }

  #sendRest(viewer: Viewer, finish: () => void): void {
    const goOn = (): void => {
      this.#send(viewer);
      if (viewer.offset === this.#output.end) finish();
    };
    viewer.channel.handle({
      room: goOn,
      reset: () => {},
      data: (_, bytes) => viewer.channel.consumed(bytes.length),
    });
    goOn();
  }
}
