/** A read of this size tells the reader that more is waiting, as one from a socket does. */
const BLOCK_BYTES = 65_536;
const LEAST_GROWN_BYTES = 64;
/** Each run costs a few hundred bytes of overhead and one read. */
const MAX_RUNS = 1_024;

type Run<S> = { readonly stream: S; block: Buffer; length: number };

/**
 * Output that waits for its reader, joined to pieces of at most 64 KiB of one stream. It copies what it keeps: however
 * small the pieces were, memory and work follow their bytes. Once outputs have alternated a thousand times unread,
 * what follows keeps the order of each stream, but not the order between them.
 */
export class JoinedOutput<S> {
  #runs: Run<S>[] = [];
  /** Index of the oldest run. Removing each from the front would move all that follow. */
  #first = 0;
  readonly #newest = new Map<S, Run<S>>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(stream: S, data: Uint8Array): void {
    this.#bytes += data.length;
    for (let at = 0; at < data.length; ) {
      const run = this.#runWithSpace(stream);
      const part = data.subarray(at, at + BLOCK_BYTES - run.length);
      append(run, part);
      at += part.length;
    }
  }

  /** The oldest piece; null for none. */
  take(): { readonly stream: S; readonly data: Buffer } | null {
    const run = this.#runs[this.#first];
    if (run === undefined) return null;
    this.#first += 1;
    if (this.#first * 2 >= this.#runs.length) {
      this.#runs = this.#runs.slice(this.#first);
      this.#first = 0;
    }
    const { stream, block, length } = run;
    if (this.#newest.get(stream) === run) this.#newest.delete(stream);
    this.#bytes -= length;
    return { stream, data: block.subarray(0, length) };
  }

  #runWithSpace(stream: S): Run<S> {
    const newest = this.#newest.get(stream);
    const mayJoin = newest === this.#runs.at(-1) || this.#runs.length - this.#first >= MAX_RUNS;
    if (newest !== undefined && mayJoin && newest.length < BLOCK_BYTES) return newest;
    const run = { stream, block: Buffer.alloc(0), length: 0 };
    this.#runs.push(run);
    this.#newest.set(stream, run);
    return run;
  }
}

/** A run's first piece gets a block of its size: most are read before another one joins it. */
function append<S>(run: Run<S>, part: Uint8Array): void {
  const length = run.length + part.length;
  if (length > run.block.length) {
    const grown = run.length === 0 ? length : Math.max(length, run.length * 2, LEAST_GROWN_BYTES);
    const block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, grown));
    run.block.copy(block, 0, 0, run.length);
    run.block = block;
  }
  run.block.set(part, run.length);
  run.length = length;
}
