import { Duplex } from 'node:stream';
import type { StreamEnd } from '../../domain/terminals/terminal-end.ts';
import type { Channel, ChannelHandlers } from '../../protocol/agent/index.ts';
import { exitCodeOf } from './exit-codes.ts';

/** A shell's channel as a stream. Unread output stops the shell; input waits while the channel has no room. */
export class ShellStream extends Duplex {
  #channel: Channel | null = null;
  #owed = 0;
  #waiting: { readonly bytes: Buffer; readonly done: () => void } | null = null;
  /** Input bytes that the shell had before, plus those written here. */
  #position = 0;
  readonly #awaited: { readonly position: number; readonly done: () => void }[] = [];
  readonly #ended = Promise.withResolvers<StreamEnd>();

  constructor() {
    super({ allowHalfOpen: false });
  }

  /** `ready`: the shell has begun. `failed`: it will not, for this code. */
  handlers(ready: () => void, failed: (code: string) => void): ChannelHandlers {
    return {
      accepted: (reply) => {
        if (reply.type === 'shell') this.#position = reply.input_offset;
        ready();
      },
      data: (_stream, bytes) => {
        if (this.push(bytes)) this.#channel?.consumed(bytes.length);
        else this.#owed += bytes.length;
      },
      note: (note) => {
        if (note.type === 'input') this.#taken(note.offset);
      },
      room: () => this.#send(),
      finished: (result) => {
        const code = result.type === 'shell' ? exitCodeOf(result) : null;
        this.#ended.resolve({ kind: 'exited', code });
        this.once('end', () => this.destroy());
        this.push(null);
      },
      reset: ({ code }) => {
        failed(code);
        this.#ended.resolve({ kind: 'lost' });
        this.destroy();
      },
    };
  }

  uses(channel: Channel): void {
    this.#channel = channel;
  }

  /** `done` when the shell has the input. */
  input(bytes: Buffer, done: () => void): void {
    this.#position += bytes.length;
    this.#awaited.push({ position: this.#position, done });
    this.write(bytes);
  }

  ending(): Promise<StreamEnd> {
    return this.#ended.promise;
  }

  override _read(): void {
    if (this.#owed === 0) return;
    const owed = this.#owed;
    this.#owed = 0;
    this.#channel?.consumed(owed);
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#waiting = { bytes, done };
    this.#send();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#channel?.reset('detached');
    this.#ended.resolve({ kind: 'lost' });
    done(error);
  }

  #send(): void {
    const waiting = this.#waiting;
    if (waiting === null || this.#channel === null) return;
    const taken = this.#channel.write(waiting.bytes);
    if (taken < waiting.bytes.length) {
      this.#waiting = { ...waiting, bytes: waiting.bytes.subarray(taken) };
      return;
    }
    this.#waiting = null;
    waiting.done();
  }

  #taken(offset: number): void {
    while ((this.#awaited[0]?.position ?? Number.POSITIVE_INFINITY) <= offset) this.#awaited.shift()?.done();
  }
}
