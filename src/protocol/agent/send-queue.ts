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
    const item: Data = { type: 'data', stream, bytes };
    const both = joined(this.#items.at(-1), item);
    if (both !== null) this.#items.pop();
    this.#items.push(both ?? item);
  }

  /** A newer note of the same meaning replaces one that still waits. */
  push(item: Exclude<Queued, { type: 'data' }>): void {
    if (item.type === 'note') this.#withdraw(item);
    this.#items.push(item);
  }

  /** Joins the pieces that only this note kept apart. */
  #withdraw(note: Note): void {
    const at = this.#items.findIndex((queued) => queued.type === 'note' && isSame(queued, note));
    if (at < 0) return;
    this.#items.splice(at, 1);
    const both = joined(this.#items[at - 1], this.#items[at]);
    if (both !== null) this.#items.splice(at - 1, 2, both);
  }

  /** The next frame: at most one chunk. null when there is none. */
  shift(): Queued | null {
    const [first] = this.#items;
    if (first?.type !== 'data' || first.bytes.length <= CHUNK_BYTES) return this.#items.shift() ?? null;
    this.#items[0] = { ...first, bytes: first.bytes.subarray(CHUNK_BYTES) };
    return { ...first, bytes: first.bytes.subarray(0, CHUNK_BYTES) };
  }
}

type Data = Extract<Queued, { type: 'data' }>;
type Note = Extract<Queued, { type: 'note' }>;

/** null for those that stay apart. */
function joined(one: Queued | undefined, other: Queued | undefined): Data | null {
  if (one?.type !== 'data' || other?.type !== 'data' || one.stream !== other.stream) return null;
  if (one.bytes.length + other.bytes.length > JOIN_BYTES) return null;
  const bytes = new Uint8Array(one.bytes.length + other.bytes.length);
  bytes.set(one.bytes);
  bytes.set(other.bytes, one.bytes.length);
  return { type: 'data', stream: one.stream, bytes };
}

const isSame = ({ note: one }: Note, { note: other }: Note): boolean =>
  one.type === other.type && (one.type !== 'signal' || JSON.stringify(one) === JSON.stringify(other));
