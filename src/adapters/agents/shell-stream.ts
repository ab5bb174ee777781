import { Duplex } from 'node:stream';
import { JoinedOutput } from '../../domain/joined-output.ts';
import type { StreamEnd } from '../../domain/terminals/terminal-end.ts';
import type { Channel, ChannelHandlers } from '../../protocol/agent/index.ts';
import { exitCodeOf } from './exit-codes.ts';

/** A shell's channel as a stream. Unread output stops the shell; input waits while the channel has no room. */
export class ShellStream extends Duplex {
  #channel: Channel | null = null;
  /** Output that the reader has not asked for yet: at most the channel's window. */
  readonly #unread = new JoinedOutput<0>();
  #isWanted = false;
  #hasEnded = false;
  #waiting: { readonly bytes: Buffer; readonly done: () => void } | null = null;
  /** Input bytes that the shell had before, plus those written here. */
  #position = 0;
  readonly #awaited: { readonly position: number; readonly done: () => void }[] = [];
  readonly #ended = Promise.withResolvers<StreamEnd>();

  constructor() {
    super({ allowHalfOpen: false, readableHighWaterMark: 1 });
  }

  /** `ready`: the shell has begun. `failed`: it will not, for this code. */
  handlers(ready: () => void, failed: (code: string) => void): ChannelHandlers {
    return {
      accepted: (reply) => {
        if (reply.type === 'shell') this.#position = reply.input_offset;
        ready();
      },
      data: (_stream, bytes) => {
        this.#unread.add(0, bytes);
        this.#pass();
      },
      note: (note) => {
        if (note.type === 'input') this.#taken(note.offset);
      },
      room: () => this.#send(),
      finished: (result) => {
        const code = result.type === 'shell' ? exitCodeOf(result) : null;
        this.#ended.resolve({ kind: 'exited', code });
        this.once('end', () => this.destroy());
        this.#hasEnded = true;
        this.#pass();
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
    this.#isWanted = true;
    this.#pass();
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

  /** Passes on what has arrived in one piece, if the reader wants it. */
  #pass(): void {
    if (!this.#isWanted) return;
    const piece = this.#unread.take();
    if (piece !== null) {
      this.#isWanted = false;
      this.#channel?.consumed(piece.data.length);
      this.push(piece.data);
    } else if (this.#hasEnded) this.push(null);
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
