import type { DomainError } from '../../../domain/errors.ts';
import type { Result } from '../../../domain/result.ts';
import type { ProcessInput } from '../../../ports/containers/processes/container-processes.ts';
import type { SocketPause } from '../socket-reader.ts';

/** Above this much waiting input the socket is paused; below the second it is resumed. */
const PAUSE_BYTES = 1_048_576;
const RESUME_BYTES = 262_144;
/** What waiting input takes besides its content: empty input is work too. */
const FRAME_BYTES = 256;
const MAX_WRITE_BYTES = 1_048_576;
const RETRY = { firstMs: 100, maxMs: 2_000 };

/** Refusals that pass by themselves. A repeat is safe: its offset makes it count once. */
const PASSING: readonly DomainError['code'][] = [
  'process_input_full',
  'container_paused',
  'process_outcome_unknown',
  'engine_busy',
  'container_unresponsive',
  'too_many_processes',
];

export type InputEvents = {
  /** The process has all input before this offset. */
  acknowledge(offset: number): void;
  refused(code: DomainError['code']): void;
  /** Input is missing before the received input. */
  gap(): void;
  failed(error: unknown): void;
};

type Write = (input: ProcessInput) => Promise<Result<number, DomainError>>;

/** The input of one socket: written in order, one request at a time, each byte once by its offset. */
export class InputWriter {
  readonly #write: Write;
  readonly #socketPause: SocketPause;
  readonly #events: InputEvents;
  /** Offset of the next byte from the socket. */
  #position: number;
  #waiting: ProcessInput[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  #written: Promise<void> = Promise.resolve();
  #isEnded = false;
  #isStopped = false;

  constructor(start: number, write: Write, socketPause: SocketPause, events: InputEvents) {
    this.#position = start;
    this.#write = write;
    this.#socketPause = socketPause;
    this.#events = events;
  }

  /** Sets the next bytes' offset, also after an end. */
  startAt(offset: number): void {
    if (offset > this.#position) this.#events.gap();
    else {
      this.#position = offset;
      this.#isEnded = false;
    }
  }

  take(data: Buffer): void {
    if (this.#isEnded) return;
    this.#add({ data, offset: this.#position, isLast: false });
    this.#position += data.length;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#add({ data: Buffer.alloc(0), offset: this.#position, isLast: true });
  }

  /** Resolves when everything taken so far was written or refused. */
  written(): Promise<void> {
    return this.#written;
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
  }

  #add(input: ProcessInput): void {
    if (this.#isStopped) return;
    this.#waiting.push(input);
    this.#waitingBytes += input.data.length + FRAME_BYTES;
    if (this.#waitingBytes > PAUSE_BYTES) this.#socketPause.begin('program');
    if (this.#isWriting) return;
    this.#written = this.#writeAll().catch((error: unknown) => this.#events.failed(error));
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let next = this.#next(); next !== null; next = this.#next()) {
      await this.#writeOne(next.input);
      this.#waitingBytes -= next.input.data.length + next.frames * FRAME_BYTES;
      if (this.#waitingBytes < RESUME_BYTES) this.#socketPause.end('program');
    }
    this.#isWriting = false;
  }

  async #writeOne(input: ProcessInput): Promise<void> {
    for (let delayMs = RETRY.firstMs; !this.#isStopped; delayMs = Math.min(delayMs * 2, RETRY.maxMs)) {
      const written = await this.#write(input);
      if (this.#isStopped) return;
      if (written.ok) return this.#events.acknowledge((input.offset ?? 0) + input.data.length);
      const { code } = written.error;
      if (code === 'process_input_gap') return this.#events.gap();
      if (!PASSING.includes(code)) return this.#events.refused(code);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }

  /** The waiting input, joined: up to its first gap. */
  #next(): { readonly input: ProcessInput; readonly frames: number } | null {
    const [first] = this.#waiting;
    if (first === undefined) return null;
    const start = first.offset ?? 0;
    const parts: Buffer[] = [];
    let [bytes, isLast] = [0, false];
    for (const { data, offset, isLast: ends } of this.#waiting) {
      if (offset !== start + bytes || isLast || bytes + data.length > MAX_WRITE_BYTES) break;
      parts.push(data);
      bytes += data.length;
      isLast = ends;
    }
    this.#waiting.splice(0, parts.length);
    return { input: { data: Buffer.concat(parts), offset: start, isLast }, frames: parts.length };
  }
}
