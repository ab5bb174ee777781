import type { Writable } from 'node:stream';
import { incompleteBytes } from '../../../domain/utf8.ts';
import { asTmuxKeys, ESCAPE, incompleteInput } from './tmux/tmux-keys.ts';

/**
 * How long a partial character or key waits for its rest; then it is sent as it is, so nothing is lost. Nobody types
 * half a character, but some line editors drop it. The Escape key is a partial key too, and its wait is imperceptible.
 */
const HOLD_CHARACTER_MS = 1_000;
const HOLD_KEY_MS = 25;

/** What a reader of input needs complete, and how it gets the rest. */
export type InputForm = {
  /** The end of this input that may continue in the next. */
  incomplete(input: Buffer): Buffer;
  encode(input: Buffer): Buffer;
};

export const PLAIN_INPUT: InputForm = {
  incomplete: (input) => input.subarray(input.length - incompleteBytes(input)),
  encode: (input) => input,
};
export const TMUX_INPUT: InputForm = { incomplete: incompleteInput, encode: asTmuxKeys };

type Waiting = { readonly end: number; readonly done: () => void };

/** Writes one terminal's input and delays partial characters and keys. */
export class InputWriter {
  readonly #stream: Writable;
  readonly #form: InputForm;
  #incomplete: Buffer = Buffer.alloc(0);
  #taken = 0;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Writable, form: InputForm) {
    this.#stream = stream;
    this.#form = form;
    stream.once('close', () => clearTimeout(this.#timer));
  }

  /** `done` when the stream has this input and all before it. */
  write(input: Buffer, done: () => void): void {
    this.#taken += input.length;
    this.#waiting.push({ end: this.#taken, done });
    if (input.length === 0 && this.#incomplete.length > 0) return;
    clearTimeout(this.#timer);
    const all = this.#incomplete.length === 0 ? input : Buffer.concat([this.#incomplete, input]);
    this.#incomplete = this.#form.incomplete(all);
    this.#send(all.subarray(0, all.length - this.#incomplete.length));
    if (this.#incomplete.length === 0) return;
    const holdMs = this.#incomplete[0] === ESCAPE ? HOLD_KEY_MS : HOLD_CHARACTER_MS;
    this.#timer = setTimeout(() => this.#release(), holdMs);
  }

  #release(): void {
    const incomplete = this.#incomplete;
    this.#incomplete = Buffer.alloc(0);
    this.#send(incomplete);
  }

  #send(input: Buffer): void {
    const sent = this.#taken - this.#incomplete.length;
    const over = this.#waiting.filter(({ end }) => end <= sent);
    this.#waiting = this.#waiting.filter(({ end }) => end > sent);
    if (input.length === 0 && over.length === 0) return;
    this.#stream.write(this.#form.encode(input), (error) => {
      if (!error) for (const { done } of over) done();
    });
  }
}
