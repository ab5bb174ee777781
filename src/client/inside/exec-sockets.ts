import { CLOSE_CODES } from '../../protocol/close-codes.ts';
import { decodeExecServerFrame, type ExecServerFrame, encodeExecFrame } from '../../protocol/exec-frames.ts';
import { nextTryMs } from '../backoff.ts';
import { BerthError } from '../request/errors.ts';
import { Heartbeat } from '../socket/heartbeat.ts';
import type { Socket, SocketListener } from '../socket/socket.ts';
import { broken, isAway, isFinal, isSignedOut, notOpened, signedOut } from './exec-failures.ts';

/** How the sockets of a command are opened. */
export type ExecDial = {
  /** Opens one with a valid token. */
  open(listener: SocketListener): Promise<Socket>;
  /** Why the service would refuse one; null when it would not. */
  refusal(): Promise<BerthError | null>;
};

type Refused = Extract<ExecServerFrame, { type: 'refused' }>;

export type ExecSocketsListener = {
  opened(): void;
  frame(frame: ExecServerFrame | null): void;
  bytes(data: Uint8Array): void;
  /** `reason`: why the service cannot yet open another one; null without an answer. */
  lost(reason: BerthError | null): void;
  /** There will be no other socket. */
  failed(error: unknown): void;
};

const TIMES = { pingEveryMs: () => 10_000, overdueAfterMs: 10_000, silentAfterMs: 30_000 };
const HANDSHAKE_MS = 15_000;
const RETRY = { firstMs: 250, maxMs: 4_000 };
/** Another process of the service than the command's refuses it: a proxy may choose that one a few times. */
const REFUSALS = 8;
const REFUSED_RETRY = { firstMs: 100, maxMs: 800 };
/** The service keeps a command without a socket for as long. */
const RESUME_WITHIN_MS = 60_000;
/** How long a service that is away is asked to start a command: nothing was started yet. */
const BEGIN_WITHIN_MS = 30_000;

/** What the platform reports of a proxy that goes away, and of a lost line. */
const LOST_CODES: readonly number[] = [1001, 1006];

/** The sockets of a command, one after the other. */
export class ExecSockets {
  readonly #dial: ExecDial;
  readonly #listener: ExecSocketsListener;
  #heartbeat: Heartbeat | null = null;
  #socket: Socket | null = null;
  #isBegun = false;
  #isOver = false;
  #attempt = 0;
  #refusals = 0;
  #lostAtMs: number | null = null;
  /** Why no socket has opened yet. */
  #reason: BerthError | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(dial: ExecDial, listener: ExecSocketsListener) {
    this.#dial = dial;
    this.#listener = listener;
    this.#connect();
  }

  /** Whether the command may run: a socket has passed its start. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    this.#socket?.send(data);
  }

  /** The present socket passes the command's frames: another one follows its loss. */
  connected(): void {
    this.#isBegun = true;
    this.#refusals = 0;
    this.#lostAtMs = null;
  }

  /** The service that answered does not have the command; a present one knows what became of it. */
  refused({ code, error, ...rest }: Refused): void {
    if (code === 'command_elsewhere') return void this.#again(nextTryMs(this.#attempt, null, RETRY));
    if (code !== 'command_outcome_unknown')
      return void this.#listener.failed(new BerthError(0, code, error, rest));
    this.#refusals += 1;
    if (this.#refusals >= REFUSALS) this.#listener.failed(broken());
    else this.#again(nextTryMs(this.#refusals, null, REFUSED_RETRY));
  }

  end(): void {
    this.#isOver = true;
    this.#drop(true);
  }

  #connect(): void {
    const heartbeat = new Heartbeat(TIMES, {
      ping: (t) => this.send(encodeExecFrame({ type: 'ping', t })),
      overdue: () => {},
      silent: () => this.#again(),
    });
    const isCurrent = (): boolean => heartbeat === this.#heartbeat && !this.#isOver;
    this.#heartbeat = heartbeat;
    this.#retry = setTimeout(() => this.#again(), HANDSHAKE_MS);
    const listener: SocketListener = {
      opened: () => isCurrent() && this.#onOpened(heartbeat),
      text: (message) => isCurrent() && this.#onText(message, heartbeat),
      bytes: (data) => {
        heartbeat.heard();
        if (!isCurrent()) return;
        this.#attempt = 0;
        this.#listener.bytes(data);
      },
      closed: (code, reason, opened) => isCurrent() && this.#onClosed(code, reason, opened),
    };
    this.#dial.open(listener).then(
      (socket) => {
        if (isCurrent()) this.#socket = socket;
        else socket.drop(true);
      },
      (error) => {
        if (!isCurrent()) return;
        if (this.#isBegun || isAway(error)) this.#again(null, error);
        else this.#listener.failed(error);
      },
    );
  }

  #onOpened(heartbeat: Heartbeat): void {
    clearTimeout(this.#retry);
    heartbeat.begin();
    this.#listener.opened();
  }

  #onText(message: string, heartbeat: Heartbeat): void {
    const frame = decodeExecServerFrame(message);
    heartbeat.heard();
    if (frame?.type === 'pong') {
      heartbeat.answered(frame.t);
      this.#attempt = 0;
    }
    this.#listener.frame(frame);
  }

  #onClosed(code: number, reason: string, opened: boolean): void {
    if (opened && code === CLOSE_CODES.unauthorized) this.#listener.failed(signedOut());
    else if (!opened) void this.#notOpened();
    else if (LOST_CODES.includes(code)) this.#again();
    else this.#listener.failed(broken(reason));
  }

  /** The answer to a plain request says why, and lets an expired token be renewed. */
  async #notOpened(): Promise<void> {
    this.#drop();
    const refusal = await this.#dial.refusal().catch((error: unknown) => error);
    const { failed } = this.#listener;
    if (this.#isOver) return;
    if (this.#isBegun) {
      if (isFinal(refusal)) failed(isSignedOut(refusal) ? refusal : broken());
      else this.#again();
    } else if (isAway(refusal)) this.#again(null, refusal);
    else if (refusal !== null) failed(refusal);
    else if (this.#attempt > 0 && this.#reason === null) failed(notOpened());
    else this.#again();
  }

  /** A line that is lost again before anything came over it is tried later each time. */
  #again(afterMs: number | null = null, failure: unknown = null): void {
    this.#drop();
    const reason = failure instanceof BerthError ? failure : null;
    this.#reason = reason;
    this.#listener.lost(reason?.status === 0 ? null : reason);
    if (this.#isOver) return;
    const nowMs = performance.now();
    this.#lostAtMs ??= nowMs;
    const askedMs = (reason?.retryAfterSeconds ?? 0) * 1_000;
    const isTooLate = nowMs + askedMs - this.#lostAtMs > (this.#isBegun ? RESUME_WITHIN_MS : BEGIN_WITHIN_MS);
    if (isTooLate)
      return void this.#listener.failed(this.#isBegun ? broken() : (this.#reason ?? notOpened()));
    const ownMs = afterMs ?? (this.#attempt === 0 ? 0 : nextTryMs(this.#attempt, null, RETRY));
    const delayMs = Math.max(askedMs, ownMs);
    this.#attempt += 1;
    this.#retry = setTimeout(() => this.#connect(), delayMs);
  }

  /** `final`: the command is no longer needed. */
  #drop(final = false): void {
    clearTimeout(this.#retry);
    this.#heartbeat?.stop();
    this.#heartbeat = null;
    this.#socket?.drop(final);
    this.#socket = null;
  }
}
