import type { Channel, StreamNumber } from '../protocol/agent/index.ts';

/** Writes to a channel, waiting for its reader. */
export class ChannelWriter {
  readonly #channel: Channel;
  #wakes: (() => void)[] = [];

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** To be called when the channel has room again, and when it is over. */
  readonly wake = (): void => {
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake();
  };

  /** Resolves when the channel has all of it; false when the channel is over, and the rest is dropped. */
  async write(bytes: Uint8Array, stream: StreamNumber = 0): Promise<boolean> {
    let left = bytes;
    while (this.#channel.isOpen) {
      left = left.subarray(this.#channel.write(left, stream));
      if (left.length === 0) return true;
      await new Promise<void>((resolve) => this.#wakes.push(resolve));
    }
    return false;
  }
}
