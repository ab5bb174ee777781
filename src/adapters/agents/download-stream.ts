import { Readable } from 'node:stream';
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
  #owed = 0;
  /** A longer file is cut; a shorter one is an error, so that nobody keeps half of it. */
  #bytesLeft: number | null = null;
  /** Whether the agent left nothing out; known at the end. */
  isComplete = true;

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
    const owed = this.#owed;
    this.#owed = 0;
    if (owed > 0) this.#channel?.consumed(owed);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#channel?.reset('ended');
    done(error);
  }

  #add(bytes: Uint8Array): void {
    const kept = this.#bytesLeft === null ? bytes : bytes.subarray(0, this.#bytesLeft);
    if (this.#bytesLeft !== null) this.#bytesLeft -= kept.length;
    if (kept.length === 0 || this.push(kept)) this.#channel?.consumed(bytes.length);
    else this.#owed += bytes.length;
  }

  #finish(complete: boolean): void {
    this.isComplete = complete;
    if ((this.#bytesLeft ?? 0) > 0) this.destroy(new RuntimeFailure('a file ended too early'));
    else this.push(null);
  }
}
