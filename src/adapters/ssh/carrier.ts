import type { Duplex } from 'node:stream';

/** The byte stream below an SSH connection, as all its channels share it. */
export class Carrier {
  readonly closed: Promise<void>;
  readonly #socket: Duplex;
  readonly #atEnd = new Set<() => void>();
  #isClosed = false;
  #bytes = 0;
  #drained: Promise<void> | null = null;
  #close = (): void => {};

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
    if (socket.destroyed) this.close();
    else socket.once('close', () => this.close());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What its channels have carried. */
  get bytes(): number {
    return this.#bytes;
  }

  /** From now on its channels send nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#close();
    for (const end of this.#atEnd) end();
    this.#atEnd.clear();
  }

  /** Calls `end` when it closes, unless the result is called before. */
  atEnd(end: () => void): () => void {
    if (this.#isClosed) end();
    else this.#atEnd.add(end);
    return () => this.#atEnd.delete(end);
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Resolves when the client's end has received enough of what was sent, and at the end. */
  room(): Promise<void> {
    if (this.#isClosed || !this.#socket.writableNeedDrain) return Promise.resolve();
    this.#drained ??= this.#nextDrain();
    return this.#drained;
  }

  async #nextDrain(): Promise<void> {
    const drained = new Promise<void>((resolve) => this.#socket.once('drain', resolve));
    await Promise.race([drained, this.closed]);
    this.#drained = null;
  }
}
