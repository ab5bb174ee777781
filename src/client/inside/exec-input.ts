type Bytes = Uint8Array<ArrayBuffer>;

/** Input within the room that the service gave, kept until the service has it. */
export class ExecInput {
  #roomBytes = 0;
  #kept: Bytes[] = [];
  /** Offset of the first kept byte. */
  #start = 0;
  /** An older service never says what it has, so keeping would not end. */
  #isKept = true;

  get roomBytes(): number {
    return this.#roomBytes;
  }

  /** Whether a service can have so many bytes. */
  hasSent(received: number): boolean {
    return !this.#isKept || received <= this.#start + this.#keptBytes();
  }

  /** The service takes so many bytes more; `received` is what it has in all. */
  addRoom(bytes: number, received: number | null): void {
    this.#roomBytes += bytes;
    this.#isKept &&= received !== null;
    if (received === null) this.#kept = [];
    else this.#confirm(received);
  }

  sent(piece: Bytes): void {
    this.#roomBytes -= piece.length;
    if (this.#isKept) this.#kept.push(piece);
  }

  /** What to send again to a service that has so many bytes, which then says how much more it takes. */
  sendAgain(received: number): readonly Bytes[] {
    this.#confirm(received);
    this.#roomBytes = -this.#keptBytes();
    return this.#kept;
  }

  #keptBytes(): number {
    return this.#kept.reduce((sum, { length }) => sum + length, 0);
  }

  #confirm(received: number): void {
    let known = received - this.#start;
    if (known <= 0) return;
    let count = 0;
    for (const { length } of this.#kept) {
      if (length > known) break;
      known -= length;
      this.#start += length;
      count += 1;
    }
    this.#kept.splice(0, count);
    const [first] = this.#kept;
    if (first === undefined || known === 0) return;
    this.#kept[0] = first.slice(known);
    this.#start += known;
  }
}
