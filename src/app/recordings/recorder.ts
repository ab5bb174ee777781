import { StringDecoder } from 'node:string_decoder';
import {
  beginCast,
  type CastEvent,
  type CastFacts,
  type CastStep,
  type CutReason,
  nextCast,
} from '../../domain/terminals/recording.ts';
import type { TerminalSize } from '../../domain/terminals/terminal.ts';
import type { RecordingFile } from '../../ports/terminals/recording-files.ts';

/** This much is written at once; less waits, up to the time below. */
const WRITE_BYTES = 65_536;
const WRITE_WITHIN_MS = 500;
/** The most that may wait for a slow disk. The terminal never waits: above this the recording ends. */
const MAX_WAITING_BYTES = 8_388_608;

export type RecorderDeps = {
  readonly file: RecordingFile;
  readonly startedAt: Date;
  readonly size: TerminalSize;
  readonly limitBytes: number;
  readonly monotonicMs: () => number;
  /** Called once, when it takes no more. */
  readonly onCut: (why: CutReason) => void;
};

/** Writes one recording, asynchronously: its callers never wait. */
export type Recorder = {
  output(chunk: Buffer): void;
  resized(size: TerminalSize): void;
  /** Another stream follows, on an empty screen. */
  restart(): void;
  limit(bytes: number): void;
  /** The written part. */
  facts(): CastFacts;
  /** Writes the rest and closes the file. */
  end(): Promise<CastFacts>;
};

export const recorder = (deps: RecorderDeps): Recorder => new CastRecorder(deps);

class CastRecorder implements Recorder {
  readonly #deps: RecorderDeps;
  readonly #startMs: number;
  #decoder = new StringDecoder('utf8');
  #cast: CastStep['cast'];
  #waiting: string;
  #inFile: CastFacts = { sizeBytes: 0, durationMs: 0 };
  #isTaking = true;
  #isBroken = false;
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: RecorderDeps) {
    const { size, startedAt, limitBytes, monotonicMs } = deps;
    this.#deps = deps;
    this.#startMs = monotonicMs();
    ({ cast: this.#cast, line: this.#waiting } = beginCast(size, startedAt, limitBytes));
    this.#write();
  }

  output(chunk: Buffer): void {
    // The earlier output comes in one chunk, and each control byte takes six bytes in the file.
    for (let at = 0; at < chunk.length && this.#isTaking; at += WRITE_BYTES) {
      const text = this.#decoder.write(chunk.subarray(at, at + WRITE_BYTES));
      this.#note({ type: 'output', atMs: this.#elapsedMs(), text });
    }
  }

  resized({ cols, rows }: TerminalSize): void {
    this.#note({ type: 'size', atMs: this.#elapsedMs(), cols, rows });
  }

  restart(): void {
    this.#note({ type: 'output', atMs: this.#elapsedMs(), text: `${this.#decoder.end()}\x1bc` });
    this.#decoder = new StringDecoder('utf8');
  }

  limit(bytes: number): void {
    this.#cast = { ...this.#cast, limitBytes: bytes };
  }

  facts(): CastFacts {
    return this.#inFile;
  }

  async end(): Promise<CastFacts> {
    this.#note({ type: 'output', atMs: this.#elapsedMs(), text: this.#decoder.end() });
    this.#isTaking = false;
    while (this.#writing !== null) await this.#writing;
    this.#write();
    while (this.#writing !== null) await this.#writing;
    clearTimeout(this.#timer);
    await this.#deps.file.close();
    return this.#inFile;
  }

  #elapsedMs(): number {
    return this.#deps.monotonicMs() - this.#startMs;
  }

  #note(event: CastEvent): void {
    if (!this.#isTaking) return;
    const { cast, line, full } = nextCast(this.#cast, event);
    this.#cast = cast;
    this.#waiting += line;
    if (full) this.#cut('quota');
    else if (cast.sizeBytes - this.#inFile.sizeBytes > MAX_WAITING_BYTES) this.#cut('too_fast');
    this.#writeSoon();
  }

  #cut(why: CutReason): void {
    if (!this.#isTaking) return;
    this.#isTaking = false;
    this.#deps.onCut(why);
  }

  #writeSoon(): void {
    if (this.#waiting.length >= WRITE_BYTES) this.#write();
    else if (this.#waiting !== '') this.#timer ??= setTimeout(() => this.#write(), WRITE_WITHIN_MS);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== null || this.#waiting === '' || this.#isBroken) return;
    const { sizeBytes, durationMs } = this.#cast;
    const lines = this.#waiting;
    this.#waiting = '';
    this.#writing = this.#deps.file.append(lines).then(
      () => {
        this.#inFile = { sizeBytes, durationMs };
      },
      () => {
        // The file may end in half a line, so nothing may follow.
        this.#isBroken = true;
        this.#cut('failed');
      },
    );
    void this.#writing.then(() => {
      this.#writing = null;
      this.#writeSoon();
    });
  }
}
