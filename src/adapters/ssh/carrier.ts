import type { Duplex } from 'node:stream';

/** Something that ends once, and those who wait for that. */
export class Ending {
  readonly #atEnd = new Set<() => void>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const then of this.#atEnd) then();
    this.#atEnd.clear();
  }

  /** Calls `then` when it ends, or at once if it has. The returned function cancels that. */
  whenOver(then: () => void): () => void {
    if (this.#isOver) then();
    else this.#atEnd.add(then);
    return () => this.#atEnd.delete(then);
  }
}

/** The byte stream below an SSH connection, as all its channels share it. */
export class Carrier {
  readonly #socket: Duplex;
  readonly #ending = new Ending();
  #bytes = 0;
  #drained: Promise<void> | null = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
    if (socket.destroyed) this.close();
    else socket.once('close', () => this.close());
  }

  get isClosed(): boolean {
    return this.#ending.isOver;
  }

  /** What its channels have carried. */
  get bytes(): number {
    return this.#bytes;
  }

  /** From now on its channels send nothing. */
  close(): void {
    this.#ending.end();
  }

  /** Calls `end` when it closes, or at once if it has. The returned function cancels that. */
  atEnd(end: () => void): () => void {
    return this.#ending.whenOver(end);
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Resolves when the client's end has received enough of what was sent, and at the end. */
  room(): Promise<void> {
    if (this.isClosed || !this.#socket.writableNeedDrain) return Promise.resolve();
    this.#drained ??= this.#nextDrain();
    return this.#drained;
  }

  #nextDrain(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#socket.off('drain', done);
        forget();
        this.#drained = null;
        resolve();
      };
      this.#socket.on('drain', done);
      const forget = this.atEnd(done);
    });
  }
}
