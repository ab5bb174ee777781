import type { Writable } from 'node:stream';
import type { ServerChannel } from 'ssh2';
import { type Carrier, Ending } from './carrier.ts';

/** Inner fields of ssh2 1.17.0, which keep a chunk that has been sent. */
type Waiting = {
  _chunk?: unknown;
  _chunkcb?: unknown;
  _chunkErr?: unknown;
  _chunkcbErr?: unknown;
};

/** Sends to a channel, one piece at a time and no faster than the client and its connection receive. */
export class ChannelOutput {
  readonly channel: ServerChannel;
  readonly #carrier: Carrier;
  readonly #ending = new Ending();
  /** Ends the current write's wait. */
  #written = (): void => {};
  #last: Promise<void> = Promise.resolve();

  constructor(channel: ServerChannel, carrier: Carrier) {
    this.channel = channel;
    this.#carrier = carrier;
    const end = (): void => this.#ending.end();
    const forget = carrier.atEnd(end);
    this.atEnd(() => {
      forget();
      this.#written();
    });
    // ssh2 emits `close` only after all input was read. When the client closes, it ends stdout and stderr, and at least
    // one of them has nothing left to send.
    channel.once('close', end).once('finish', end);
    channel.stderr.once('finish', end);
    if (channel.writableFinished || channel.stderr.writableFinished) end();
  }

  get isClosed(): boolean {
    return this.#ending.isOver;
  }

  /**
   * Calls `end` when the client or Berth closes it, or at once if that has happened. The returned function cancels
   * that. Input may wait to be read.
   */
  atEnd(end: () => void): () => void {
    return this.#ending.whenOver(end);
  }

  /** Resolves when there is room for more, and at the channel's end. Never throws. */
  write(stream: 'stdout' | 'stderr', data: Buffer | string): Promise<void> {
    const into = stream === 'stdout' ? this.channel : this.channel.stderr;
    this.#last = this.#last.then(() => this.#write(into, data));
    return this.#last;
  }

  async #write(into: Writable, data: Buffer | string): Promise<void> {
    if (this.isClosed) return;
    this.#carrier.count(data.length);
    await new Promise<void>((resolve) => {
      this.#written = resolve;
      into.write(data, () => resolve());
    });
    // Otherwise the next wait of the other stream would send it again.
    const waiting = this.channel as unknown as Waiting;
    waiting._chunk = waiting._chunkcb = waiting._chunkErr = waiting._chunkcbErr = undefined;
    await this.#carrier.room();
  }

  /** Ends the channel after everything written, with the program's exit code if it has one. */
  async exit(code: number | null): Promise<void> {
    await this.#last;
    if (this.isClosed) return;
    if (code !== null) this.channel.exit(code);
    this.channel.end();
  }
}
