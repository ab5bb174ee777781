import { Channel, type ChannelHandlers, type ChannelOwner } from './channel.ts';
import { type ChannelFault, encodeChannelFrame, type Received, readChannelFrame } from './channel-frames.ts';
import { MAX_CHANNELS } from './limits.ts';
import { type ChannelRequest, decodeRequest } from './requests.ts';
import { SendTurns } from './send-turns.ts';

export type ChannelSetOptions = {
  readonly role: 'service' | 'agent';
  /** The agent's answer to an opened channel: accepts, refuses or finishes it, now or later. */
  readonly opened?: (request: ChannelRequest, channel: Channel) => ChannelHandlers;
  /** `next` has something. */
  readonly wantsToSend: () => void;
};

/** The channels of one session. */
export class ChannelSet {
  readonly #options: ChannelSetOptions;
  readonly #channels = new Map<number, Channel>();
  readonly #turns = new SendTurns<Channel>();
  readonly #owingCredit = new Set<Channel>();
  readonly #resets: { readonly id: number; readonly fault: ChannelFault }[] = [];
  #lastId = 0;
  readonly #owner: ChannelOwner;

  constructor(options: ChannelSetOptions) {
    this.#options = options;
    this.#owner = {
      wantsToSend: (channel) => {
        if (channel.isWaiting) this.#turns.add(channel);
        this.#owingCredit.add(channel);
        options.wantsToSend();
      },
      over: (channel, fault) => this.#over(channel, fault),
    };
  }

  get size(): number {
    return this.#channels.size;
  }

  /** null when the session has as many channels as it may. */
  open(request: ChannelRequest, handlers: ChannelHandlers): Channel | null {
    if (this.#channels.size >= MAX_CHANNELS) return null;
    const channel = new Channel(this.#lastId + 1, request.type, this.#options.role, this.#owner);
    this.#lastId = channel.id;
    this.#channels.set(channel.id, channel);
    channel.handle(handlers);
    channel.request(request);
    return channel;
  }

  /** The next frame to send. Without `withData` only what lets the other side go on. null when there is none. */
  next(withData: boolean): Uint8Array | null {
    const reset = this.#resets.shift();
    if (reset !== undefined) return encodeChannelFrame(reset.id, { type: 'reset', fault: reset.fault });
    for (const channel of this.#owingCredit) {
      this.#owingCredit.delete(channel);
      const frame = channel.shiftCredit();
      if (frame !== null) return encodeChannelFrame(channel.id, frame);
    }
    const channel = withData ? this.#turns.take() : undefined;
    const frame = channel?.shift() ?? null;
    if (channel === undefined || frame === null) return null;
    if (channel.isWaiting) this.#turns.addBusy(channel);
    return encodeChannelFrame(channel.id, frame);
  }

  /** Takes a frame of the other side. Returns what is wrong with it, or null. */
  receive(bytes: Uint8Array): string | null {
    const frame = readChannelFrame(bytes);
    if (frame === null) return 'malformed frame';
    if (frame.type === 'open') return this.#receiveOpen(frame);
    const channel = this.#channels.get(frame.channel);
    // one that has ended here: its last frames crossed that
    if (channel === undefined) return frame.channel <= this.#lastId ? null : 'unknown channel';
    const fault = this.#guarded(channel, () => channel.receive(frame));
    return fault === null ? null : `channel ${channel.id}: ${fault}`;
  }

  /** Ends all channels on this side alone. */
  lose(fault: ChannelFault): void {
    const all = [...this.#channels.values()];
    this.#channels.clear();
    for (const channel of all) {
      this.#turns.delete(channel);
      channel.lose(fault);
    }
    this.#owingCredit.clear();
    this.#resets.length = 0;
  }

  /**
   * Ends these channels with `lost`, or with `unsent` when the other side has not heard of them and never will. Other
   * channels continue.
   */
  giveUp(isGivenUp: (channel: Channel) => boolean): void {
    for (const channel of [...this.#channels.values()].filter(isGivenUp)) {
      const code = channel.isRequested ? 'lost' : 'unsent';
      this.#over(channel, channel.isRequested ? { code, message: 'no longer waited for' } : undefined);
      channel.lose({ code, message: 'the connection was lost for too long' });
    }
  }

  #receiveOpen({ channel: id, json }: Extract<Received, { type: 'open' }>) {
    const { opened } = this.#options;
    if (opened === undefined) return 'only the service opens channels';
    if (id <= this.#lastId) return 'channel numbers must grow';
    this.#lastId = id;
    const request = decodeRequest(json);
    if (request === null) return this.#refuse(id, 'unsupported', 'unknown kind of channel, or a bad field');
    if (this.#channels.size >= MAX_CHANNELS) return this.#refuse(id, 'too_many_channels', '');
    const channel = new Channel(id, request.type, this.#options.role, this.#owner);
    this.#channels.set(id, channel);
    return this.#guarded(channel, () => {
      channel.handle(opened(request, channel));
      return null;
    });
  }

  /** A fault of a handler ends its channel, not the process with all others. */
  #guarded<T>(channel: Channel, act: () => T): T | null {
    try {
      return act();
    } catch (error) {
      channel.reset('failed', error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  #refuse(id: number, code: string, message: string): null {
    this.#resets.push({ id, fault: { code, message } });
    this.#options.wantsToSend();
    return null;
  }

  #over(channel: Channel, fault?: ChannelFault): void {
    this.#channels.delete(channel.id);
    this.#turns.delete(channel);
    this.#owingCredit.delete(channel);
    if (fault !== undefined) this.#refuse(channel.id, fault.code, fault.message);
  }
}
