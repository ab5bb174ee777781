import { StringDecoder } from 'node:string_decoder';
import {
  beginCast,
  type CastEvent,
  type CastFacts,
  type CastSize,
  type CastStep,
  type CutReason,
  nextCast,
} from '../../domain/terminals/recording.ts';
import type { RecordingFile } from '../../ports/terminals/recording-files.ts';

/** So much is written at once; less waits, but never for longer. */
const WRITE_BYTES = 65_536;
const WRITE_WITHIN_MS = 500;
/** What may wait for a slow disk. The terminal waits for nothing: beyond this the recording ends. */
const MAX_WAITING_BYTES = 8_388_608;

export type RecorderDeps = {
  readonly file: RecordingFile;
  readonly startedAt: Date;
  readonly size: CastSize;
  readonly limitBytes: number;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  /** It takes no more; told once. */
  readonly onCut: (why: CutReason) => void;
};

/** Writes one recording. What it is given costs no waiting: the file is written behind. */
export type Recorder = {
  output(chunk: Buffer): void;
  resized(size: CastSize): void;
  /** Another stream takes the place of the one so far, from an empty screen on. */
  startAnew(): void;
  /** From now on the file may hold so much. */
  limit(bytes: number): void;
  /** What is in the file. */
  facts(): CastFacts;
  /** Writes what waits, and closes the file. */
  end(): Promise<CastFacts>;
};

export function recorder({ file, startedAt, size, limitBytes, monotonicMs, onCut }: RecorderDeps): Recorder {
  const startMs = monotonicMs();
  let decoder = new StringDecoder('utf8');
  let { cast, line: waiting } = beginCast(size, startedAt, limitBytes);
  let inFile: CastFacts = { sizeBytes: 0, durationMs: 0 };
  let taking = true;
  let broken = false;
  let writing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const cut = (why: CutReason): void => {
    if (!taking) return;
    taking = false;
    onCut(why);
  };
  const apply = (step: CastStep): void => {
    cast = step.cast;
    waiting += step.line;
    if (step.full) cut('quota');
    else if (cast.sizeBytes - inFile.sizeBytes > MAX_WAITING_BYTES) cut('too_fast');
    writeSoon();
  };
  const note = (event: CastEvent): void => {
    if (taking) apply(nextCast(cast, event));
  };
  const writeSoon = (): void => {
    if (waiting.length >= WRITE_BYTES) write();
    else if (waiting !== '') timer ??= setTimeout(write, WRITE_WITHIN_MS);
  };
  const elapsedMs = (): number => monotonicMs() - startMs;

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    if (writing !== null || waiting === '' || broken) return;
    const { sizeBytes, durationMs } = cast;
    const lines = waiting;
    waiting = '';
    writing = file.append(lines).then(
      () => {
        inFile = { sizeBytes, durationMs };
      },
      () => {
        // Half a line may be there: nothing may follow it.
        broken = true;
        cut('failed');
      },
    );
    void writing.then(() => {
      writing = null;
      writeSoon();
    });
  }

  write();
  return {
    output(chunk) {
      // What a terminal has shown so far comes as one; its control bytes are six bytes each in the file.
      for (let at = 0; at < chunk.length && taking; at += WRITE_BYTES) {
        const text = decoder.write(chunk.subarray(at, at + WRITE_BYTES));
        note({ type: 'output', atMs: elapsedMs(), text });
      }
    },
    resized: ({ cols, rows }) => note({ type: 'size', atMs: elapsedMs(), cols, rows }),
    startAnew() {
      note({ type: 'output', atMs: elapsedMs(), text: `${decoder.end()}\x1bc` });
      decoder = new StringDecoder('utf8');
    },
    limit(bytes) {
      cast = { ...cast, limitBytes: bytes };
    },
    facts: () => inFile,
    async end() {
      note({ type: 'output', atMs: elapsedMs(), text: decoder.end() });
      taking = false;
      while (writing !== null) await writing;
      write();
      while (writing !== null) await writing;
      clearTimeout(timer);
      await file.close();
      return inFile;
    },
  };
}
