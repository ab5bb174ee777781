import type { CallOptions, Schemas } from '../request/api.ts';
import { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import type { OpenSocket } from '../socket/socket.ts';
import type { AttachOptions } from './attach-frames.ts';
import { AttachedProcess } from './attached-process.ts';
import { type OutputEnd, type OutputOptions, type OutputPiece, outputOf } from './process-output.ts';

/** What a process needs for its requests and sockets. */
export type ProcessLine = { readonly requester: Requester; readonly openSocket: () => Promise<OpenSocket> };

export type WaitOptions = { readonly signal?: AbortSignal };

const MAX_INPUT_BYTES = 1_048_576;
const INPUT_RETRIES = 8;

/** The output of a process, from its start: loop over it, or wait for a text in it. */
export type ProcessOutput = AsyncIterable<OutputPiece> & {
  /** From other offsets, or only what there is now. */
  from(options: OutputOptions): AsyncGenerator<OutputPiece, OutputEnd, undefined>;
  /**
   * Resolves with the match when the text of one stream has it, also in what was printed before. Throws
   * `process_ended` when the process ends without it.
   */
  until(pattern: RegExp | string, options?: WaitOptions): Promise<RegExpExecArray>;
};

/** A program that runs in a container on its own, whatever becomes of this client. */
export class Process {
  readonly #requester: Requester;
  readonly #line: ProcessLine;
  readonly #path: string;
  #info: Schemas['Process'];
  /** The offset of the next input; null when another client may have sent some. */
  #sent: number | null;
  /** Input that the process may not have, oldest first: the first one may have been taken. */
  #waiting: Input[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(line: ProcessLine, path: string, info: Schemas['Process'], isNew: boolean) {
    this.#line = line;
    this.#requester = line.requester;
    this.#path = `${path}/${encodeURIComponent(info.id)}`;
    this.#info = info;
    this.#sent = isNew ? 0 : null;
  }

  get id(): string {
    return this.#info.id;
  }

  get name(): string {
    return this.#info.name;
  }

  /** As last read. */
  get info(): Schemas['Process'] {
    return this.#info;
  }

  /** Reads its state, and how much output is kept. */
  async refresh({ signal }: CallOptions = {}): Promise<Schemas['ProcessDetail']> {
    const read = await this.#requester.json<Schemas['ProcessDetail']>(this.#path, { signal: signal ?? null });
    this.#info = read;
    return read;
  }

  get output(): ProcessOutput {
    const from = (options: OutputOptions = {}) => outputOf(this.#requester, this.#path, options);
    return {
      from,
      until: (pattern, options = {}) => found(from(options), pattern),
      [Symbol.asyncIterator]: () => from(),
    };
  }

  /**
   * Connects to it for its output, input, size and signals over one socket, which reconnects by itself. Several
   * clients may send input at the same time: all of it arrives.
   */
  async attach(options: AttachOptions = {}): Promise<AttachedProcess> {
    options.signal?.throwIfAborted();
    return new AttachedProcess(this.#requester, await this.#line.openSocket(), this.#path, options);
  }

  /**
   * Sends input. Each byte is taken once, also when a connection breaks: a repeat has the offset of the first try.
   * Calls are sent one after the other. When it throws, the process may have the input or not. The next call first
   * sends what is missing: do not write it again. Only a refusal that no repeat changes, as `process_ended`, drops all
   * input that waits.
   */
  write(data: string | Uint8Array<ArrayBuffer>): Promise<void> {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    const pieces: Input[] = [];
    for (let at = 0; at < bytes.length; at += MAX_INPUT_BYTES)
      pieces.push({ data: bytes.slice(at, at + MAX_INPUT_BYTES), isLast: false });
    return this.#inTurn(() => this.#sendAll(pieces));
  }

  /** Ends the input: the program reads its end. */
  closeInput(): Promise<void> {
    return this.#inTurn(() => this.#sendAll([{ data: new Uint8Array(), isLast: true }]));
  }

  /** Signals it and everything that it started. */
  async signal(signal: Schemas['SignalRequest']['signal']): Promise<void> {
    this.#info = await this.#requester.json(`${this.#path}/signal`, { method: 'POST', body: { signal } });
  }

  /** Changes the size of its terminal. */
  async resize(size: Schemas['PtySize']): Promise<void> {
    this.#info = await this.#requester.json(`${this.#path}/resize`, { method: 'POST', body: size });
  }

  /** Ends it with everything that it started: SIGTERM, and SIGKILL after five seconds. */
  async kill(): Promise<Schemas['Process']> {
    this.#info = await this.#requester.json(this.#path, { method: 'DELETE' });
    return this.#info;
  }

  /** Resolves with its end. */
  async wait({ signal }: WaitOptions = {}): Promise<OutputEnd> {
    const { output } = await this.refresh(signal === undefined ? {} : { signal });
    if (output === null || this.#info.status === 'ended') return endOf(this.#info);
    const after = { stdout: output.stdout.bytes, stderr: output.stderr.bytes };
    const rest = outputOf(this.#requester, this.#path, {
      after,
      ...(signal === undefined ? {} : { signal }),
    });
    for (;;) {
      const { done, value } = await rest.next();
      if (done) return value;
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #sendAll(pieces: readonly Input[]): Promise<void> {
    this.#waiting.push(...pieces);
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      await this.#send(next);
      this.#waiting.shift();
    }
  }

  async #send({ data, isLast }: Input): Promise<void> {
    const headers = { 'content-type': 'application/octet-stream' };
    const request = { method: 'POST', content: data, headers };
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#sent ??= await this.#taken();
        const path = `${this.#path}/input?offset=${this.#sent}${isLast ? '&eof=true' : ''}`;
        const { input_offset } = await this.#requester.json<Schemas['ProcessInputTaken']>(path, request);
        this.#sent = input_offset;
        return;
      } catch (failure) {
        if (attempt >= INPUT_RETRIES || !isRepeatable(failure)) {
          // Otherwise it stays, with its offset: the service would take other input there for a repeat.
          if (isFinal(failure)) {
            this.#waiting = [];
            this.#sent = null;
          }
          throw failure;
        }
        await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** Math.min(attempt, 4)));
      }
    }
  }

  /** How much input the process has: a refusal of what lies beyond says so. */
  async #taken(): Promise<number> {
    const path = `${this.#path}/input?offset=${10 ** 14}`;
    const asked = { method: 'POST', content: new Uint8Array([0]) };
    try {
      await this.#requester.json(path, asked);
      return 0;
    } catch (failure) {
      const offset = failure instanceof BerthError ? failure.body['input_offset'] : null;
      if (typeof offset !== 'number') throw failure;
      return offset;
    }
  }
}

/** A piece of input; `isLast`: the end follows it. */
type Input = { readonly data: Uint8Array<ArrayBuffer>; readonly isLast: boolean };

/** Refusals of input that no repeat changes. */
const FINAL: ReadonlySet<string> = new Set([
  'process_ended',
  'process_input_closed',
  'process_input_gap',
  'process_not_found',
  'process_without_input',
  'container_not_found',
  'container_not_running',
]);

/** Refusals that pass soon: a program that does not read yet, a snapshot, too many programs at once. */
const PASSING: ReadonlySet<string> = new Set([
  'process_input_full',
  'container_paused',
  'too_many_processes',
]);

/** The process takes no such input, however often it is sent; also an answer of a proxy in between. */
const isFinal = (failure: unknown): boolean =>
  failure instanceof BerthError &&
  (FINAL.has(failure.code) || failure.status === 400 || failure.status === 413);

/** No answer, a service that restarts, or a refusal that passes soon. */
const isRepeatable = (failure: unknown): boolean =>
  failure instanceof BerthError &&
  (failure.status === 0 || failure.status >= 500 || PASSING.has(failure.code));

const endOf = ({ exit_code, signal, status, ended_by }: Schemas['Process']): OutputEnd => ({
  exitCode: exit_code,
  signal,
  status,
  endedBy: ended_by,
});

/** How much text is searched again with the next piece. */
const OVERLAP = 4096;

async function found(
  pieces: AsyncGenerator<OutputPiece, OutputEnd, undefined>,
  pattern: RegExp | string,
): Promise<RegExpExecArray> {
  const wanted =
    typeof pattern === 'string' ? new RegExp(pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : pattern;
  const texts = { stdout: '', stderr: '' };
  for await (const { stream, text } of pieces) {
    texts[stream] = texts[stream].slice(-OVERLAP) + text;
    wanted.lastIndex = 0;
    const match = wanted.exec(texts[stream]);
    if (match !== null) return match;
  }
  throw new BerthError(409, 'process_ended', `the process ended without ${wanted}`);
}
