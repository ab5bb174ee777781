import { subprotocols, TERMINAL_PROTOCOL } from '../../protocol/subprotocols.ts';
import {
  type ClientFrame,
  decodeServerFrame,
  type ReadyFrame,
  type ServerFrame,
} from '../../protocol/terminal-frames.ts';
import { forShell, nextTryMs, RECONNECT } from '../backoff.ts';
import {
  type ConnectionDeps,
  type ConnectionListener,
  type ConnectionState,
  type ConnectionTarget,
  HEALTHY,
  type LineHealth,
  type Probe,
} from './connection-types.ts';
import { LINE_TIMES, Line } from './line.ts';
import { afterProbe } from './probe.ts';
import { StreamPosition } from './stream-position.ts';
import {
  DETACHED,
  doubtfulInput,
  type EndReason,
  meaningOfClose,
  type Size,
  type StreamPoint,
  type Trouble,
  terminalPath,
} from './terminal-protocol.ts';

/** A line that was open this long was good: after its loss the first try comes quickly. */
const STEADY_MS = 5_000;
/** A try that takes longer may be stuck on a network that is gone. */
const STUCK_MS = 2_000;

/** A terminal's connection, kept open across lost lines until it is over or closed. */
export class Connection {
  readonly #target: ConnectionTarget;
  readonly #deps: ConnectionDeps;
  readonly #listener: ConnectionListener;
  readonly #position: StreamPosition;
  #size: Size;
  #state: ConnectionState = { kind: 'connecting', trouble: 'line' };
  #trouble: Trouble = 'line';
  #line: Line<ServerFrame, ClientFrame> | null = null;
  #fresh = false;
  /** Whether output is unwanted for now. */
  #isPaused = false;
  /** Whether it was suspended or closed by the caller: only `open` connects it again. */
  #isLeft = false;
  #attempt = 0;
  #health: LineHealth = HEALTHY;
  #enteredAtMs = performance.now();
  #exitCode: number | null = null;
  /** The delay that the service asked for before it ends. */
  #comeBackMs: number | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Goes up with each try, so that late answers to an earlier one are recognised. */
  #epoch = 0;

  constructor(target: ConnectionTarget, deps: ConnectionDeps, listener: ConnectionListener) {
    this.#target = target;
    this.#deps = deps;
    this.#listener = listener;
    this.#size = target.size;
    this.#position = new StreamPosition(target.resume ?? null);
    this.#fresh = target.fresh ?? false;
  }

  /** Connects now, instead of at the next try. */
  open(): void {
    this.#isLeft = false;
    const epoch = this.#abandon();
    this.#enter({ kind: 'connecting', trouble: this.#trouble });
    this.#deps.token().then(
      (token) => epoch === this.#epoch && (token === null ? this.#over('unauthorized') : this.#dial(token)),
      () => epoch === this.#epoch && this.#retryLater(),
    );
  }

  /** Starts over after the end, with a shell that is new if `fresh`. */
  reopen(fresh: boolean): void {
    this.#fresh = fresh;
    this.#exitCode = null;
    this.#attempt = 0;
    this.#position.restart();
    this.open();
  }

  write(bytes: Uint8Array): void {
    if (this.#state.kind === 'over') return;
    this.#position.input.push(bytes);
    this.#line?.pump();
    if (!this.#health.answers) this.#reportHealth(false);
  }

  resize(size: Size): void {
    this.#size = size;
    if (this.#state.kind === 'open') this.#line?.send({ type: 'resize', ...size });
  }

  /** Requests a snapshot of the scrollback, or the newest screen once more; a frame answers. */
  request(type: 'look_back' | 'redraw', id: number): void {
    if (this.#state.kind === 'open') this.#line?.send({ type, id });
  }

  /** Tries now instead of later; when connected, checks that the line still lives. */
  nudge(): void {
    if (this.#isLeft) return;
    const { kind } = this.#state;
    const isStuck = kind === 'connecting' && performance.now() - this.#enteredAtMs > STUCK_MS;
    const isOverdue = kind === 'open' && !this.#health.answers;
    if (kind === 'waiting' || isStuck || isOverdue) this.open();
    else this.#line?.check();
  }

  /** The browser says that it is offline. */
  doubt(): void {
    this.#line?.doubt();
  }

  /** Takes no more output, so that the program waits, until `resumeOutput`. */
  pauseOutput(): void {
    this.#isPaused = true;
    if (this.#line?.pause() !== true) this.#abandon();
  }

  resumeOutput(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#line !== null) this.#line.resume();
    else if (!this.#isLeft && this.#state.kind !== 'over') this.open();
  }

  /** Disconnects until the next `open`, which continues here, or until one in another process that gets the result. */
  suspend(): StreamPoint | null {
    this.#isLeft = true;
    this.#abandon();
    return this.#position.resume();
  }

  /** Closes it for good: a pane's program ends. */
  close(): void {
    this.#isLeft = true;
    this.#abandon(true);
  }

  #dial(token: string): void {
    const address = { ...this.#target, size: this.#size, resume: this.#position.seen, fresh: this.#fresh };
    const url = this.#deps.origin + terminalPath(address);
    const heard = {
      decode: decodeServerFrame,
      frame: (frame: ServerFrame) => this.#onFrame(frame),
      bytes: (data: Uint8Array) => this.#onBytes(data),
      closed: (code: number, reason: string, opened: boolean) => this.#onClosed(code, reason, opened),
      overdue: (isOverdue: boolean) => this.#reportHealth(!isOverdue),
      silent: () => this.#retryLater(),
    };
    const { openSocket, times = LINE_TIMES } = this.#deps;
    this.#line = new Line(
      (to) => openSocket(url, subprotocols(TERMINAL_PROTOCOL, token), to),
      this.#position.input,
      heard,
      times,
    );
  }

  #onFrame(frame: ServerFrame): void {
    if (frame.type === 'exit') this.#exitCode = frame.code;
    if (frame.type === 'ready') this.#onReady(frame);
    else if (frame.type === 'restarting') this.#comeBackMs = frame.retry_ms;
    // A notice before `ready` says why there is no terminal; its close says that too.
    else if (frame.type !== 'notice' || this.#state.kind === 'open') this.#listener.frame(frame);
  }

  #onReady(ready: ReadyFrame): void {
    const { how, inputFrom, doubtfulBytes } = this.#position.continue(ready);
    this.#fresh = false;
    this.#listener.resumed(how, ready);
    this.#line?.send({ type: 'resize', ...this.#size });
    if (inputFrom !== null) this.#line?.send({ type: 'input_from', offset: inputFrom });
    this.#trouble = 'line';
    this.#enter({ kind: 'open' });
    if (doubtfulBytes > 0) this.#listener.frame({ type: 'notice', message: doubtfulInput(doubtfulBytes) });
    this.#line?.begin();
    if (this.#isPaused) this.pauseOutput();
  }

  #onBytes(data: Uint8Array): void {
    this.#position.received(data.length);
    this.#listener.bytes(data);
  }

  #onClosed(code: number, reason: string, opened: boolean): void {
    if (code === DETACHED && this.#state.kind === 'open') this.#position.detached();
    const meaning = opened ? meaningOfClose(code, reason) : ({ do: 'probe' } as const);
    if (meaning.do === 'end') this.#over(meaning.why);
    else if (meaning.do === 'retry') this.#retryLater(meaning.trouble);
    else void this.#probe(opened);
  }

  async #probe(wasOpen: boolean): Promise<void> {
    const epoch = this.#epoch;
    const answer = await this.#deps.probe().catch((): Probe => 'unreachable');
    if (epoch !== this.#epoch) return;
    const next = afterProbe(answer, wasOpen);
    if ('end' in next) this.#over(next.end);
    else this.#retryLater(next.trouble, next.forMs);
  }

  #retryLater(trouble: Trouble = 'line', afterMs: number | null = null): void {
    const steady = this.#state.kind === 'open' && performance.now() - this.#enteredAtMs > STEADY_MS;
    if (steady) this.#attempt = 0;
    const { backoff = RECONNECT } = this.#deps;
    const ofTrouble = trouble === 'shell' ? forShell(backoff) : backoff;
    const delayMs = nextTryMs(this.#attempt, this.#comeBackMs ?? afterMs, ofTrouble);
    this.#abandon();
    this.#trouble = trouble;
    this.#attempt += 1;
    this.#retry = setTimeout(() => this.open(), delayMs);
    this.#enter({ kind: 'waiting', trouble, delayMs, attempt: this.#attempt });
  }

  #over(why: EndReason): void {
    this.#abandon();
    this.#enter({ kind: 'over', why, exitCode: this.#exitCode });
  }

  #enter(state: ConnectionState): void {
    this.#enteredAtMs = performance.now();
    this.#state = state;
    this.#listener.state(state);
    this.#reportHealth(state.kind === 'open');
  }

  #reportHealth(answers: boolean): void {
    const unsentCharacters = answers ? 0 : this.#position.input.pendingCharacters();
    const before = this.#health;
    if (before.answers === answers && before.unsentCharacters === unsentCharacters) return;
    this.#health = { answers, unsentCharacters };
    this.#listener.health(this.#health);
  }

  /** Forgets the current try and returns the number of the next one. */
  #abandon(final = false): number {
    clearTimeout(this.#retry);
    this.#line?.drop(final);
    this.#line = null;
    this.#comeBackMs = null;
    this.#epoch += 1;
    return this.#epoch;
  }
}
