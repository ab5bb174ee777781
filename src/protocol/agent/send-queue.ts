import type { Sent, StreamNumber } from './channel-frames.ts';
import { CHUNK_BYTES } from './limits.ts';

/** Smaller pieces are joined, so that many keystrokes do not take more memory than their bytes. */
const JOIN_BYTES = 4_096;

type Queued = Exclude<Sent, { type: 'credit' | 'reset' }>;

/** What one channel waits to send, in order. Its bytes are limited by the channel's credit. */
export class SendQueue {
  #items: Queued[] = [];

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  pushData(stream: StreamNumber, bytes: Uint8Array): void {
    const last = this.#items.at(-1);
    const isJoined =
      last?.type === 'data' && last.stream === stream && last.bytes.length + bytes.length <= JOIN_BYTES;
    if (!isJoined) {
      this.#items.push({ type: 'data', stream, bytes });
      return;
    }
    const joined = new Uint8Array(last.bytes.length + bytes.length);
    joined.set(last.bytes);
    joined.set(bytes, last.bytes.length);
    this.#items[this.#items.length - 1] = { type: 'data', stream, bytes: joined };
  }

  /** A newer note of the same meaning replaces one that still waits. */
  push(item: Exclude<Queued, { type: 'data' }>): void {
    if (item.type === 'note')
      this.#items = this.#items.filter((queued) => !(queued.type === 'note' && isSame(queued, item)));
    this.#items.push(item);
  }

  /** The next frame: at most one chunk. null when there is none. */
  shift(): Queued | null {
    const [first] = this.#items;
    if (first?.type !== 'data' || first.bytes.length <= CHUNK_BYTES) return this.#items.shift() ?? null;
    this.#items[0] = { ...first, bytes: first.bytes.subarray(CHUNK_BYTES) };
    return { ...first, bytes: first.bytes.subarray(0, CHUNK_BYTES) };
  }
}

type Note = Extract<Queued, { type: 'note' }>;

const isSame = ({ note: one }: Note, { note: other }: Note): boolean =>
  one.type === other.type && (one.type !== 'signal' || JSON.stringify(one) === JSON.stringify(other));
