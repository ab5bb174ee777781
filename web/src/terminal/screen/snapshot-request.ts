/** Without an answer for this long, the page scrolls what it has. */
const ANSWER_WITHIN_MS = 1_000;
/** Without an answer for this long, the request is given up. */
const GIVE_UP_MS = 10_000;

type Timer = ReturnType<typeof setTimeout> | undefined;

/** The newest request for a snapshot, until it is answered or given up. */
export class SnapshotRequest {
  #id: number | null = null;
  #late: Timer;
  #giveUp: Timer;

  get isPending(): boolean {
    return this.#id !== null;
  }

  isAnsweredBy(id: number | null): boolean {
    return id !== null && id === this.#id;
  }

  begin(id: number, { late, gaveUp }: { late(): void; gaveUp(): void }): void {
    this.end();
    this.#id = id;
    this.#late = setTimeout(late, ANSWER_WITHIN_MS);
    this.#giveUp = setTimeout(gaveUp, GIVE_UP_MS);
  }

  end(): void {
    clearTimeout(this.#late);
    clearTimeout(this.#giveUp);
    this.#id = null;
  }
}
