import type { Writable } from 'node:stream';
import type { ServerChannel } from 'ssh2';
import type { Carrier } from './carrier.ts';

/** Inner fields of ssh2 1.17.0, which keep a chunk that has been sent. */
type Waiting = {
  _chunk?: unknown;
  _chunkcb?: unknown;
  _chunkErr?: unknown;
  _chunkcbErr?: unknown;
};

/** Sends to a channel, one piece at a time and no faster than the client and its connection receive. */
export class ChannelOutput {
  readonly closed: Promise<unknown>;
  readonly #channel: ServerChannel;
  readonly #carrier: Carrier;
  #isClosed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(channel: ServerChannel, carrier: Carrier) {
    this.#channel = channel;
    this.#carrier = carrier;
    const closed = new Promise<void>((resolve) => channel.once('close', resolve));
    this.closed = Promise.race([closed, carrier.closed]);
    channel.once('close', () => {
      this.#isClosed = true;
    });
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#carrier.isClosed;
  }

  /** Resolves when there is room for more, and at the channel's end. Never throws. */
  write(stream: 'stdout' | 'stderr', data: Buffer | string): Promise<void> {
    const into = stream === 'stdout' ? this.#channel : this.#channel.stderr;
    this.#last = this.#last.then(() => this.#write(into, data));
    return this.#last;
  }

  async #write(into: Writable, data: Buffer | string): Promise<void> {
    if (this.isClosed) return;
    this.#carrier.count(data.length);
    await Promise.race([new Promise<void>((resolve) => into.write(data, () => resolve())), this.closed]);
    // Otherwise the next wait of the other stream would send it again.
    const waiting = this.#channel as unknown as Waiting;
    waiting._chunk = waiting._chunkcb = waiting._chunkErr = waiting._chunkcbErr = undefined;
    await this.#carrier.room();
  }

  /** Ends the channel after everything written, with the program's exit code if it has one. */
  async exit(code: number | null): Promise<void> {
    await this.#last;
    if (this.isClosed) return;
    if (code !== null) this.#channel.exit(code);
    this.#channel.end();
  }
}
