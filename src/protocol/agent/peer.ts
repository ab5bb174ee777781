import type { Channel, ChannelHandlers } from './channel.ts';
import { ChannelSet } from './channel-set.ts';
import { ACKNOWLEDGE_BYTES, LINE_BUFFER_BYTES, MAX_MESSAGE_BYTES } from './limits.ts';
import type { CloseReason, LineMessage } from './line-messages.ts';
import { encodeAck, encodeClose, encodeNumbered, encodePing, readLineMessage } from './line-messages.ts';
import { MessageLog } from './message-log.ts';
import type { ChannelRequest } from './requests.ts';
import * as positions from './session-position.ts';

/** A connection that carries whole messages in order, until it breaks. */
export interface Line {
  send(message: Uint8Array): void;
  /** Bytes that wait in this process for the network. */
  readonly bufferedBytes: number;
}

export type PeerOptions = {
  readonly role: 'service' | 'agent';
  /** The agent's answer to an opened channel. */
  readonly opened?: (request: ChannelRequest, channel: Channel) => ChannelHandlers;
  /** The other side broke the protocol: the session is over, and its line has been sent a closing message. */
  readonly broken: (message: string) => void;
  /** The other side closes the line, for this reason. The session may continue on another. */
  readonly closed?: (reason: string, message: string) => void;
};

/**
 * One side of a session: channels over connections that may break. Every frame arrives once and in order, as long as
 * both sides keep the session. It has no timers: its owner attaches lines, passes messages, and calls `flush`.
 */
export class Peer {
  readonly #options: PeerOptions;
  readonly #channels: ChannelSet;
  readonly #log = new MessageLog();
  #position = positions.NEW_SESSION;
  #line: Line | null = null;
  /** The number of the next message to send on this line. */
  #next = 0;
  #unreportedBytes = 0;
  #isAckDue = false;
  #pong: Uint8Array | null = null;
  #isOver = false;

  constructor(options: PeerOptions) {
    this.#options = options;
    const { role, opened } = options;
    const wantsToSend = (): void => this.pump();
    this.#channels = new ChannelSet({ role, wantsToSend, ...(opened === undefined ? {} : { opened }) });
  }

  /** Numbered messages that have arrived, for the greeting. */
  get received(): number {
    return this.#position.received;
  }

  /** Bytes kept until the other side acknowledges them. */
  get unacknowledgedBytes(): number {
    return this.#log.bytes;
  }

  get channelCount(): number {
    return this.#channels.size;
  }

  /** Whether the session can go on with a side that has received this many of its messages. */
  canResume(peerReceived: number): boolean {
    return !this.#isOver && positions.resume(this.#position, peerReceived) !== null;
  }

  /** Goes on over this line, after both greetings. `peerReceived`: see `canResume`; 0 for a new session. */
  attach(line: Line, peerReceived: number): void {
    const resumed = positions.resume(this.#position, peerReceived);
    if (resumed === null || this.#isOver) throw new Error('this session cannot be resumed');
    this.#position = resumed;
    this.#log.dropBefore(peerReceived);
    this.#next = peerReceived;
    this.#line = line;
    this.#pong = null;
    this.#setReported();
    this.pump();
  }

  /** The line is gone. Everything is kept for the next one. */
  detach(): void {
    this.#line = null;
  }

  /** The session is over: all channels are lost, and nothing is sent any more. */
  end(): void {
    this.#isOver = true;
    this.#line = null;
    this.#channels.lose({ code: 'lost', message: 'the connection was lost for too long' });
  }

  /** Requests without a result by now are not waited for: see `ChannelFault`. Shells go on. */
  giveUpRequests(): void {
    this.#channels.giveUp(({ kind }) => kind !== 'shell');
  }

  /** Opens a channel, even without a line. null when there are too many. */
  open(request: ChannelRequest, handlers: ChannelHandlers): Channel | null {
    return this.#isOver ? null : this.#channels.open(request, handlers);
  }

  /** Sends a ping now. The answer counts as a sign of life only: any message does. */
  ping(): void {
    this.#line?.send(encodePing('ping', new Uint8Array(8)));
  }

  /** Says why the line will be closed, after what has been sent. */
  sayClosing(reason: CloseReason, message = ''): void {
    this.#line?.send(encodeClose(reason, message));
  }

  /** Acknowledges the little that has arrived. To be called some times a second. */
  flush(): void {
    this.#isAckDue ||= this.#position.reported < this.#position.received;
    this.pump();
  }

  /** Takes a message of the line. Never throws. */
  receive(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const message = bytes.length > MAX_MESSAGE_BYTES ? null : readLineMessage(bytes);
    const fault = message === null ? 'malformed message' : this.#take(message, bytes.length);
    if (fault !== null) this.#break(fault);
    else this.pump();
  }

  /** Gives the line what it has space for. To be called when the line has drained. */
  pump(): void {
    while (this.#line !== null && this.#line.bufferedBytes < LINE_BUFFER_BYTES) {
      const message = this.#nextMessage();
      if (message === null) return;
      this.#line.send(message);
    }
  }

  #take(message: LineMessage, bytes: number): string | null {
    switch (message.type) {
      case 'ping':
        this.#pong = message.payload.slice();
        return null;
      case 'pong':
        return null;
      case 'close':
        this.#options.closed?.(message.reason, message.message);
        return null;
      case 'ack': {
        const next = positions.acknowledge(this.#position, message.count);
        if (next === null) return 'impossible acknowledgement';
        this.#position = next;
        this.#log.dropBefore(message.count);
        return null;
      }
      case 'numbered': {
        const next = positions.receiveNext(this.#position, message.sequence);
        if (next === null) return 'messages out of order';
        this.#position = next;
        this.#unreportedBytes += bytes;
        this.#isAckDue ||= this.#unreportedBytes >= ACKNOWLEDGE_BYTES;
        return this.#channels.receive(message.frame);
      }
    }
  }

  #nextMessage(): Uint8Array | null {
    if (this.#pong !== null) {
      const pong = encodePing('pong', this.#pong);
      this.#pong = null;
      return pong;
    }
    if (this.#isAckDue) {
      this.#position = positions.report(this.#position);
      this.#setReported();
      return encodeAck(this.#position.received);
    }
    return this.#nextNumbered();
  }

  #nextNumbered(): Uint8Array | null {
    const again = this.#log.get(this.#next);
    if (again !== undefined) {
      this.#next++;
      return again;
    }
    if (this.#log.isOverfull) {
      this.#break('no acknowledgements');
      return null;
    }
    const frame = this.#channels.next(!this.#log.isFull);
    if (frame === null) return null;
    const message = encodeNumbered(this.#position.sent, frame);
    this.#position = positions.numberNext(this.#position);
    this.#log.add(message);
    this.#next++;
    return message;
  }

  #setReported(): void {
    this.#unreportedBytes = 0;
    this.#isAckDue = false;
  }

  #break(fault: string): void {
    this.sayClosing('protocol', fault);
    this.end();
    this.#options.broken(fault);
  }
}
