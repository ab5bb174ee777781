import { PassThrough } from 'node:stream';
import { JoinedOutput } from '../../../domain/joined-output.ts';

/** How much input a client may have sent that the command has not taken. */
export const INPUT_WINDOW_BYTES = 262_144;
const BUFFER_BYTES = 65_536;
/** New room is granted in portions, so that many small frames cause few answers. */
const PORTION_BYTES = 65_536;

/** A command's input, within the room that its client was granted. */
export class ExecInput {
  readonly stream = new PassThrough({ highWaterMark: BUFFER_BYTES });
  readonly #give: (bytes: number) => void;
  readonly #waiting = new JoinedOutput<0>();
  #roomBytes = 0;
  #receivedBytes = 0;
  #freedBytes = 0;
  #isWriting = false;
  #isEnded = false;

  /** `give` tells the client that it may send so many more bytes. */
  constructor(give: (bytes: number) => void) {
    this.#give = give;
  }

  /** How many bytes it has taken. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  begin(): void {
    this.#free(INPUT_WINDOW_BYTES);
  }

  /** Tells a client that begins anew how much room there is. */
  grantAgain(): void {
    if (this.#roomBytes > 0) this.#give(this.#roomBytes);
  }

  /** Takes input; false for more than there is room for. Input after its end is dropped. */
  take(chunk: Buffer): boolean {
    if (chunk.length > this.#roomBytes) return false;
    this.#roomBytes -= chunk.length;
    this.#receivedBytes += chunk.length;
    if (this.#isEnded) this.#free(chunk.length);
    else this.#waiting.add(0, chunk);
    this.#write();
    return true;
  }

  end(): void {
    this.#isEnded = true;
    this.#write();
  }

  /** One write at a time, so that what comes meanwhile is joined and costs no more than its bytes. */
  #write(): void {
    if (this.#isWriting) return;
    const chunk = this.#waiting.take()?.data ?? null;
    if (chunk === null) {
      if (this.#isEnded) this.stream.end();
      return;
    }
    this.#isWriting = true;
    this.stream.write(chunk, () => {
      this.#isWriting = false;
      this.#free(chunk.length);
      this.#write();
    });
  }

  #free(bytes: number): void {
    this.#freedBytes += bytes;
    if (this.#freedBytes < PORTION_BYTES) return;
    this.#roomBytes += this.#freedBytes;
    this.#give(this.#freedBytes);
    this.#freedBytes = 0;
  }
}
