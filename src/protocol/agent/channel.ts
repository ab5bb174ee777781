import type { ChannelFault, Received, Sent, StreamNumber } from './channel-frames.ts';
import { type ChannelState, type ChannelStep, newChannel, receive, send } from './channel-state.ts';
import * as credit from './credit-window.ts';
import { WINDOW_BYTES } from './limits.ts';
import {
  type ChannelKind,
  type ChannelNote,
  type ChannelReply,
  type ChannelResult,
  decodeNote,
  decodeReply,
  decodeResult,
} from './requests.ts';
import { SendQueue } from './send-queue.ts';

/** What the other side does. `finished` and `reset` are the last call. */
export interface ChannelHandlers {
  accepted?(reply: ChannelReply): void;
  /** Report the bytes by `consumed` once they are used. They are the handler's to keep. */
  data?(stream: StreamNumber, bytes: Uint8Array): void;
  /** No more data follows. */
  ended?(): void;
  note?(note: ChannelNote): void;
  finished?(result: ChannelResult): void;
  /** Without a result: refused, reset by the other side, or `lost` with the session. */
  reset(fault: ChannelFault): void;
  /** `write` takes more again. */
  room?(): void;
}

/** The set that a channel is in. */
export interface ChannelOwner {
  /** Something waits in `shift` or `shiftCredit`. */
  wantsToSend(channel: Channel): void;
  /** Over. `fault` is to be sent. */
  over(channel: Channel, fault?: ChannelFault): void;
}

/** One request and its bytes in both directions, on one side. Survives connections, and ends with its session. */
export class Channel {
  readonly id: number;
  readonly kind: ChannelKind;
  #state: ChannelState;
  #sending: credit.SendWindow;
  #receiving: credit.ReceiveWindow;
  #handlers: ChannelHandlers = { reset: () => {} };
  readonly #role: 'service' | 'agent';
  /** Whether the other side knows of it, or soon will. */
  #isRequested: boolean;
  readonly #queue = new SendQueue();
  readonly #owner: ChannelOwner;

  constructor(id: number, kind: ChannelKind, role: 'service' | 'agent', owner: ChannelOwner) {
    this.id = id;
    this.kind = kind;
    this.#role = role;
    this.#owner = owner;
    this.#isRequested = role === 'agent';
    this.#state = newChannel(role);
    this.#sending = credit.sendWindow(WINDOW_BYTES[kind]);
    this.#receiving = credit.receiveWindow(WINDOW_BYTES[kind]);
  }

  handle(handlers: ChannelHandlers): void {
    this.#handlers = handlers;
  }

  get isOpen(): boolean {
    return this.#state.phase !== 'closed';
  }

  /** Bytes that `write` takes now. */
  get room(): number {
    return send(this.#state, 'data') === null ? 0 : this.#sending.credit;
  }

  /** Returns how many of the bytes were taken, from the start. The rest is for when `room` is called. */
  write(bytes: Uint8Array, stream: StreamNumber = 0): number {
    const taken = Math.min(this.room, bytes.length);
    if (taken === 0) return 0;
    this.#sending = credit.spend(this.#sending, taken);
    this.#queue.pushData(stream, bytes.subarray(0, taken));
    this.#owner.wantsToSend(this);
    return taken;
  }

  /** The agent has begun. */
  accept(reply: ChannelReply): void {
    if (this.#step('accepted')) this.#push({ type: 'accepted', reply });
  }

  /** No more data from this side. */
  end(): void {
    if (this.#step('end')) this.#push({ type: 'end' });
  }

  note(note: ChannelNote): void {
    if (this.#step('note')) this.#push({ type: 'note', note });
  }

  /** The agent's last word, after all data. Nothing is received any more. */
  finish(result: ChannelResult): void {
    if (this.#step('result')) this.#push({ type: 'result', result });
  }

  /** Ends the channel at once; what waits is dropped. `code`: small letters and underscores. */
  reset(code: string, message = ''): void {
    if (this.#step('reset')) this.#owner.over(this, this.#isRequested ? { code, message } : undefined);
  }

  /** Bytes of `data` were used: the other side may send as many again. */
  consumed(bytes: number): void {
    this.#receiving = credit.use(this.#receiving, bytes);
    if (this.isOpen && credit.isWorthGranting(this.#receiving)) this.#owner.wantsToSend(this);
  }

  /** The first frame. */
  request(request: Extract<Sent, { type: 'open' }>['request']): void {
    this.#push({ type: 'open', request });
  }

  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Ends it on this side alone. */
  lose(fault: ChannelFault): void {
    if (this.#step('reset')) this.#handlers.reset(fault);
  }

  get isWaiting(): boolean {
    return !this.#queue.isEmpty;
  }

  /** The next frame but credit. */
  shift(): Sent | null {
    const frame = this.#queue.shift();
    this.#isRequested = true;
    if (frame?.type === 'result') this.#owner.over(this);
    return frame;
  }

  /** The credit to give back now, or null. */
  shiftCredit(): Sent | null {
    const { owed } = this.#receiving;
    if (!this.isOpen || !credit.isWorthGranting(this.#receiving)) return null;
    this.#receiving = credit.giveBack(this.#receiving);
    return { type: 'credit', bytes: owed };
  }

  /** Takes a frame of the other side. Returns what is wrong with it, or null. */
  receive(frame: Received): string | null {
    // a result is on its way, and crossed this
    if (!this.isOpen) return null;
    if (frame.type === 'credit') return this.#receiveCredit(frame.bytes);
    if (frame.type === 'open') return 'opened twice';
    const next = receive(this.#state, frame.type);
    if (next === null) return `unexpected ${frame.type}`;
    return this.#deliver(frame);
  }

  #receiveCredit(bytes: number): string | null {
    const granted = credit.grant(this.#sending, bytes, WINDOW_BYTES[this.kind]);
    if (granted === null) return 'too much credit';
    this.#sending = granted;
    this.#handlers.room?.();
    return null;
  }

  #deliver(frame: Exclude<Received, { type: 'open' | 'credit' }>): string | null {
    switch (frame.type) {
      case 'data': {
        const arrived = credit.arrive(this.#receiving, frame.bytes.length);
        if (arrived === null) return 'more than its window';
        this.#receiving = arrived;
        this.#handlers.data?.(frame.stream, frame.bytes);
        return null;
      }
      case 'end':
        this.#advance('end');
        this.#handlers.ended?.();
        return null;
      case 'accepted': {
        const reply = decodeReply(this.kind, frame.json);
        if (reply === null) return 'malformed reply';
        this.#advance('accepted');
        this.#handlers.accepted?.(reply);
        return null;
      }
      case 'note': {
        const note = decodeNote(this.#role === 'agent' ? 'service' : 'agent', frame.json);
        if (note !== null) this.#handlers.note?.(note);
        return null;
      }
      case 'result': {
        const result = decodeResult(this.kind, frame.json);
        if (result === null) return 'malformed result';
        this.#advance('result');
        this.#owner.over(this);
        this.#handlers.finished?.(result);
        return null;
      }
      case 'reset':
        this.#advance('reset');
        this.#owner.over(this);
        this.#handlers.reset(frame.fault);
        return null;
    }
  }

  #advance(step: ChannelStep): void {
    this.#state = receive(this.#state, step) ?? this.#state;
  }

  #step(step: ChannelStep): boolean {
    const next = send(this.#state, step);
    if (next === null || (step === 'end' && next.phase !== 'closed' && this.#hasEnded())) return false;
    this.#state = next;
    return true;
  }

  #hasEnded(): boolean {
    return this.#state.phase !== 'closed' && this.#state.hasEnded;
  }

  #push(item: Exclude<Sent, { type: 'credit' | 'reset' | 'data' }>): void {
    this.#queue.push(item);
    this.#owner.wantsToSend(this);
  }
}
