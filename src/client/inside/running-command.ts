import type { ExecSignal } from '../../protocol/exec-frames.ts';
import { endedByClient } from './exec-failures.ts';
import type { CommandOutput, ExecLink, TerminalSize } from './exec-link.ts';

/**
 * A command that runs in a container, with its input and output as bytes. Its output is for one `for await`, which ends
 * with the command; a slow loop slows the command. A lost line is continued at the byte. When that does not succeed
 * within a minute, the loop throws `command_outcome_unknown`, and the service ends the command.
 */
export class RunningCommand implements AsyncIterable<CommandOutput>, AsyncDisposable {
  /** The exit code; null when the time limit ended the command. Rejects when the loop throws. */
  readonly exitCode: Promise<number | null>;
  readonly #link: ExecLink;
  #last: Promise<void> = Promise.resolve();

  constructor(link: ExecLink) {
    this.#link = link;
    this.exitCode = link.exitCode;
  }

  /** False while the line is lost. */
  get isConnected(): boolean {
    return this.#link.isConnected;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<CommandOutput, void, undefined> {
    return this.#link.output;
  }

  /**
   * Sends text or bytes. Resolves when they are sent, which waits for a slow command; after its end they are dropped.
   */
  write(input: string | Uint8Array): Promise<void> {
    const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : new Uint8Array(input);
    return this.#inTurn(() => this.#link.write(bytes));
  }

  /** Ends its input, after all that was written. */
  closeInput(): Promise<void> {
    return this.#inTurn(async () => this.#link.closeInput());
  }

  /** Sends a signal to the command and everything that it started. */
  signal(signal: ExecSignal): void {
    this.#link.signal(signal);
  }

  /** Changes the size of its terminal. */
  resize(size: TerminalSize): void {
    this.#link.resize(size);
  }

  /**
   * Ends the command, and the loop. While the line is lost, the service ends the command within about two minutes: it
   * notices the loss after up to 75 s, and then waits a minute.
   */
  close(): void {
    this.#link.close(endedByClient());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work);
    return this.#last;
  }
}
