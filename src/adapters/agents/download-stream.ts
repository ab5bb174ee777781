import { Readable } from 'node:stream';
import { JoinedOutput } from '../../domain/joined-output.ts';
import {
  OutcomeUnknown,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../ports/containers/container-runtime.ts';
import type { Channel, ChannelReply, Peer, RequestOf, ResultOf } from '../../protocol/agent/index.ts';
import { errorOf, notDone, tooMany } from './requests.ts';

/** The bytes of a file, an archive or a listing from an agent. Destroying it ends the agent's work. */
export class DownloadStream extends Readable {
  #channel: Channel | null = null;
  /** What the reader has not asked for yet: at most the channel's window. */
  readonly #unread = new JoinedOutput<0>();
  #isWanted = false;
  #hasEnded = false;
  /** A longer file is cut; a shorter one is an error, so that nobody keeps half of it. */
  #bytesLeft: number | null = null;
  /** Whether the agent left nothing out; known at the end. */
  isComplete = true;

  constructor() {
    // Pieces would wait one by one in the stream itself.
    super({ highWaterMark: 1 });
  }

  /** Resolves with the agent's reply. Throws what the agent refuses. */
  open(peer: Peer, request: RequestOf<'file_open'>): Promise<ChannelReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ChannelReply>();
    this.#channel = peer.open(request, {
      // Before the first bytes, which may follow in the same message.
      accepted: (reply) => {
        if (reply.type === 'file') this.#bytesLeft = reply.size_bytes;
        resolve(reply);
      },
      data: (_stream, bytes) => this.#add(bytes),
      finished: (result) => this.#finish((result as ResultOf<'file_open'>).complete),
      reset: (fault) => {
        const error = errorOf(fault);
        // Reading is repeatable: nothing is unknown.
        reject(error instanceof OutcomeUnknown ? notDone() : error);
        this.destroy(new RuntimeUnavailable('the agent stopped sending', { cause: error }));
      },
    });
    this.on('error', reject);
    if (this.#channel === null) reject(tooMany());
    return promise;
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pass();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#channel?.reset('ended');
    done(error);
  }

  #add(bytes: Uint8Array): void {
    const kept = this.#bytesLeft === null ? bytes : bytes.subarray(0, this.#bytesLeft);
    if (this.#bytesLeft !== null) this.#bytesLeft -= kept.length;
    this.#channel?.consumed(bytes.length - kept.length);
    this.#unread.add(0, kept);
    this.#pass();
  }

  /** Passes on one piece of what has arrived, if the reader wants it. */
  #pass(): void {
    if (!this.#isWanted) return;
    const piece = this.#unread.take();
    if (piece !== null) {
      this.#isWanted = false;
      this.#channel?.consumed(piece.data.length);
      this.push(piece.data);
    } else if (this.#hasEnded) this.push(null);
  }

  #finish(complete: boolean): void {
    this.isComplete = complete;
    if ((this.#bytesLeft ?? 0) > 0) this.destroy(new RuntimeFailure('a file ended too early'));
    else {
      this.#hasEnded = true;
      this.#pass();
    }
  }
}
