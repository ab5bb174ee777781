import type { TerminalStream } from '../../../app/terminals/output/terminal-stream.ts';
import { continuesInput, takeInput } from '../../../domain/terminals/terminal-resume.ts';
import type { SocketPause } from '../socket-reader.ts';

/** Acknowledged at once after this much, else together after a moment. */
const ACK_EVERY_BYTES = 65_536;
const ACK_WITHIN_MS = 100;

/** The input of one socket: accepted in order and once, acknowledged when the engine has it. */
export class InputIntake {
  readonly #stream: TerminalStream;
  readonly #socketPause: SocketPause;
  readonly #acknowledge: (offset: number) => void;
  /** Offset of the next byte from the socket. */
  #position: number;
  #written: number;
  #acknowledgedTo: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: TerminalStream, socketPause: SocketPause, acknowledge: (offset: number) => void) {
    this.#stream = stream;
    this.#socketPause = socketPause;
    this.#acknowledge = acknowledge;
    this.#position = stream.received();
    this.#written = this.#position;
    this.#acknowledgedTo = this.#position;
  }

  /** Sets the next bytes' offset. False for a gap. */
  startAt(offset: number): boolean {
    if (!continuesInput(this.#stream.received(), offset)) return false;
    this.#position = offset;
    return true;
  }

  /** Stops reading the socket while too much waits for the program. */
  take(chunk: Buffer): void {
    const { known, received, position } = takeInput(this.#stream.received(), this.#position, chunk.length);
    this.#position = position;
    // Known input is written too: earlier input may still be on its way to the engine.
    const goesOn = this.#stream.write(chunk.subarray(known), () => this.#noted(received));
    if (!goesOn && this.#socketPause.begin('program'))
      this.#stream.onDrain(() => this.#socketPause.end('program'));
  }

  /** Acknowledges what the engine has, without waiting for more. */
  flush(): void {
    if (this.#written > this.#acknowledgedTo) this.#sendAck();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#acknowledgedTo = Number.POSITIVE_INFINITY;
  }

  #noted(offset: number): void {
    this.#written = Math.max(this.#written, offset);
    if (this.#written - this.#acknowledgedTo >= ACK_EVERY_BYTES) this.#sendAck();
    else if (this.#written > this.#acknowledgedTo)
      this.#timer ??= setTimeout(() => this.#sendAck(), ACK_WITHIN_MS);
  }

  #sendAck(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#acknowledgedTo = this.#written;
    this.#acknowledge(this.#written);
  }
}
