import type { ReadyFrame } from '../../protocol/terminal-frames.ts';
import { type InputBuffer, inputBuffer } from './input-buffer.ts';
import { howResumed, type Resumed } from './resume.ts';
import type { ResumePoint, StreamPoint } from './terminal-protocol.ts';

export type Continued = {
  readonly how: Resumed;
  /** The offset of the following input, if the service must know it. */
  readonly inputFrom: number | null;
  /** Bytes of input that may be lost: they were sent, and the service counts input that this client has not sent. */
  readonly doubtfulBytes: number;
};

/** How much output and input a terminal has passed, over all its connections. */
export class StreamPosition {
  readonly input: InputBuffer = inputBuffer();
  #seen: ResumePoint | null = null;
  /** The container's start during which the service lost the stream of a running program; null after any other end. */
  #detachedIn: string | null = null;
  #startedAt: string | null = null;

  /** `resume`: where another connection, perhaps of another process, left off. */
  constructor(resume: StreamPoint | null) {
    if (resume === null) return;
    this.#seen = { stream: resume.stream, after: resume.after };
    this.input.adopt(resume.inputOffset, resume.input);
  }

  /** What the next connection asks for; null before the first. */
  get seen(): ResumePoint | null {
    return this.#seen;
  }

  received(bytes: number): void {
    if (this.#seen !== null) this.#seen = { ...this.#seen, after: this.#seen.after + bytes };
  }

  /** The service has lost the stream, and its program runs on. */
  detached(): void {
    this.#detachedIn = this.#startedAt;
  }

  /** A connection is ready: returns the input that it must send. */
  continue(ready: ReadyFrame): Continued {
    const how = howResumed(this.#seen, ready);
    this.#seen = { stream: ready.stream, after: ready.offset };
    const startedAt = ready.mux_session === null ? null : ready.started_at;
    const isSameProgram = startedAt !== null && this.#detachedIn === startedAt;
    const isNew = how === 'fresh' || how === 'other';
    const doubtfulBytes = isNew ? 0 : (this.input.rewind(ready.input_offset) ?? 0);
    if (isNew) this.input.restart(ready.input_offset, how === 'fresh' || isSameProgram);
    this.#startedAt = startedAt;
    this.#detachedIn = null;
    return { how, inputFrom: isNew ? null : ready.input_offset, doubtfulBytes };
  }

  /** What a connection from another process needs to continue here; null before the first. */
  resume(): StreamPoint | null {
    if (this.#seen === null) return null;
    const { offset, bytes } = this.input.pending();
    return { ...this.#seen, inputOffset: offset, input: bytes };
  }

  /** Forgets the stream and its input. */
  restart(): void {
    this.#seen = null;
    this.#detachedIn = null;
    this.input.restart(0, false);
  }
}
