import { EventEmitter } from 'node:events';
import { JoinedOutput } from '../../domain/joined-output.ts';
import type { Channel, ChannelHandlers, ResultOf, StreamNumber } from '../../protocol/agent/index.ts';
import { errorOf } from './requests.ts';

type Piece = { readonly stream: StreamNumber; readonly data: Buffer };
type Result = ResultOf<'exec'>;

/** What arrives of a command, until it is read. The channel's window bounds it. Emits `room` for more input. */
export class CommandOutput extends EventEmitter {
  readonly #waiting = new JoinedOutput<StreamNumber>();
  #result: Result | null = null;
  readonly #begun = Promise.withResolvers<void>();
  #channel: Channel | null = null;
  #error: Error | null = null;
  #isClosed = false;
  #pid = 0;
  #wake: () => void = () => {};

  handlers(): ChannelHandlers {
    this.#begun.promise.catch(() => undefined);
    return {
      accepted: (reply) => {
        if (reply.type === 'exec') this.#pid = reply.pid;
        this.#begun.resolve();
      },
      data: (stream, bytes) => {
        this.#waiting.add(stream, bytes);
        this.#wake();
      },
      room: () => void this.emit('room'),
      finished: (result) => {
        this.#begun.resolve();
        this.emit('room');
        this.#result = result as Result;
        this.#wake();
      },
      reset: (fault) => {
        this.#error = errorOf(fault);
        this.#begun.reject(this.#error);
        this.emit('room');
        this.#wake();
      },
    };
  }

  uses(channel: Channel): void {
    this.#channel = channel;
  }

  /** Resolves when the command runs or has ended; throws when it cannot. */
  begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** Of the command, in the machine; after `begun`. */
  pid(): number {
    return this.#pid;
  }

  /** Ends the reading. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** The next piece, or the result; null after `close`. Throws when the channel was lost. */
  async next(): Promise<Piece | Result | null> {
    for (;;) {
      if (this.#isClosed) return null;
      const piece = this.#waiting.take();
      if (piece !== null) {
        this.#channel?.consumed(piece.data.length);
        return piece;
      }
      if (this.#result !== null) return this.#result;
      if (this.#error !== null) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
