import { randomUUID } from 'node:crypto';
import { fairTurns } from '../../concurrency/slot-queue.ts';
import type { RequestOrigin } from '../../domain/identity/caller.ts';
import { ok, refuse } from '../../domain/result.ts';
import type { CastFacts, CutReason, Recording } from '../../domain/terminals/recording.ts';
import { RECORDING_WORDS } from '../../domain/terminals/recording.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { RecordingFile, RecordingFiles } from '../../ports/terminals/recording-files.ts';
import type { AsyncResult } from '../async-result.ts';
import type { ScreenSnapshot } from '../terminals/output/screen-snapshot.ts';
import type { TerminalStream } from '../terminals/output/terminal-stream.ts';
import type { LiveTerminal } from '../terminals/terminal-connections.ts';
import { recorder } from './recorder.ts';
import type { RecordingMessages } from './recording-messages.ts';
import { type ActiveRecording, type RecordingProgress, recordingProgress } from './recording-progress.ts';
import { recordStarted } from './recording-records.ts';
import { writeBacklog } from './recording-start.ts';

export type ActiveRecordingsDeps = {
  readonly storage: Storage;
  readonly files: RecordingFiles;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly log: Logger;
  /** UUID of this process. */
  readonly replica: string;
  readonly messages: Pick<RecordingMessages, 'publishNotice'>;
};

/** Screens to be drawn for recordings: one of a user at a time. More begin with the buffered output. */
const DRAWING = { maxRunning: 4, maxWaiting: 4 };

/** `includesBuffered`: starts with the stream's buffered output. */
type StartOptions = {
  readonly containerName: string;
  readonly origin: RequestOrigin;
  readonly includesBuffered: boolean;
};

/** This process's active recordings: each follows a terminal from stream to stream until it is gone. */
export class ActiveRecordings {
  readonly #deps: ActiveRecordingsDeps;
  readonly #progress: RecordingProgress;
  readonly #streams = new Map<TerminalKey, TerminalStream>();
  readonly #going = new Map<TerminalKey, ActiveRecording>();
  readonly #starting = new Map<TerminalKey, AsyncResult<Recording>>();
  readonly #drawing = fairTurns(DRAWING);
  readonly #ends = new Map<string, Promise<Recording | null>>();

  constructor(deps: ActiveRecordingsDeps) {
    const { storage, log, monotonicMs } = deps;
    this.#deps = deps;
    this.#progress = recordingProgress({ repositories: storage.repositories, log, monotonicMs });
  }

  /** Follows the terminal's new stream. */
  opened(key: TerminalKey, stream: TerminalStream): void {
    // The earlier stream's last output does not belong on the new screen.
    this.#streams.get(key)?.tap(null);
    this.#streams.set(key, stream);
    const entry = this.#going.get(key);
    if (entry === undefined) return;
    const size = stream.size();
    if (size !== null) entry.recorder.resized(size);
    entry.recorder.restart();
    follow(stream, entry);
  }

  emptied(key: TerminalKey): void {
    void this.#finish(key, null);
    this.#streams.delete(key);
  }

  /** The terminal's active recording, or a new one. */
  begin(terminal: LiveTerminal, how: StartOptions): AsyncResult<Recording> {
    const entry = this.#going.get(terminal.key);
    if (entry !== undefined) return Promise.resolve(ok(entry.recording));
    const before = this.#starting.get(terminal.key);
    if (before !== undefined) return before;
    const made = this.#start(terminal, how).finally(() => this.#starting.delete(terminal.key));
    this.#starting.set(terminal.key, made);
    return made;
  }

  async hasRoom(userId: string): Promise<boolean> {
    return (await this.#progress.roomForNew(userId)) !== null;
  }

  all(): readonly Recording[] {
    return [...this.#going.values()].map(({ recording }) => recording);
  }

  /** The written part of one active here; null for any other. */
  facts(id: string): CastFacts | null {
    return this.#byId(id)?.recorder.facts() ?? null;
  }

  /** Ends one active here. null for any other, and when its end could not be written. */
  async stop(id: string): Promise<Recording | null> {
    const entry = this.#byId(id);
    return entry === undefined ? ((await this.#ends.get(id)) ?? null) : await this.#finish(entry.key, null);
  }

  /** Records the progress of all, and ends those that were ended elsewhere; for a timer. */
  async tick(): Promise<void> {
    await Promise.all([...this.#going.values()].map((entry) => this.#note(entry)));
  }

  /** Waits until ended ones are in their files. */
  async idle(): Promise<void> {
    await Promise.all(this.#ends.values());
  }

  async #start(terminal: LiveTerminal, how: StartOptions): AsyncResult<Recording> {
    const { files } = this.#deps;
    const limitBytes = await this.#progress.roomForNew(terminal.userId);
    if (limitBytes === null) return refuse({ code: 'recording_quota_reached' });
    const id = randomUUID();
    const file = await files.create(id);
    try {
      return ok(await this.#startInFile(id, file, limitBytes, terminal, how));
    } catch (error) {
      await file.close();
      await files.remove(id);
      throw error;
    }
  }

  async #startInFile(
    id: string,
    file: RecordingFile,
    limitBytes: number,
    terminal: LiveTerminal,
    { containerName, origin, includesBuffered }: StartOptions,
  ): Promise<Recording> {
    const { storage, clock, monotonicMs, replica } = this.#deps;
    const { key } = terminal;
    const recording = await recordStarted(storage, { id, containerName, replica }, terminal, origin);
    const made = recorder({
      file,
      startedAt: clock.now(),
      size: terminal,
      limitBytes,
      monotonicMs,
      onCut: (why) => void this.#finish(key, why),
    });
    const entry = { recording, key, recorder: made, notedBytes: 0, notedAtMs: monotonicMs() };
    this.#going.set(key, entry);
    const stream = this.#streams.get(key);
    if (stream === undefined) return (await this.#finish(key, null)) ?? recording;
    await this.#take(entry, stream, terminal, includesBuffered);
    return recording;
  }

  /** Writes what the terminal already shows, and follows it: all buffered output, or a screen snapshot. */
  async #take(
    entry: ActiveRecording,
    stream: TerminalStream,
    terminal: LiveTerminal,
    includesBuffered: boolean,
  ): Promise<void> {
    const { key, recorder: made } = entry;
    const snapshot = includesBuffered ? null : await this.#snapshotOf(stream, terminal);
    // It may have ended meanwhile, or its terminal may have restarted.
    if (this.#going.get(key) !== entry) return;
    this.#deps.messages.publishNotice(entry.recording, true, RECORDING_WORDS.started);
    if (this.#streams.get(key) !== stream) return;
    made.resized(terminal);
    writeBacklog(made, stream, snapshot);
    // The buffered output may have exceeded the quota.
    if (this.#going.get(key) === entry) follow(stream, entry);
  }

  async #snapshotOf(stream: TerminalStream, { userId }: LiveTerminal): Promise<ScreenSnapshot | null> {
    return (await this.#drawing.run(userId, () => stream.recordingSnapshot())) ?? null;
  }

  /** Ends a terminal's active recording, if any; `why` when the service ends it. */
  #finish(key: TerminalKey, why: CutReason | null): Promise<Recording | null> {
    const entry = this.#going.get(key);
    if (entry === undefined) return Promise.resolve(null);
    this.#going.delete(key);
    this.#streams.get(key)?.tap(null);
    this.#deps.messages.publishNotice(entry.recording, false, RECORDING_WORDS[why ?? 'ended']);
    const end = this.#progress
      .end(entry, why === null ? 'ended' : 'truncated')
      .finally(() => this.#ends.delete(entry.recording.id));
    this.#ends.set(entry.recording.id, end);
    return end;
  }

  async #note(entry: ActiveRecording): Promise<void> {
    if (!this.#progress.isDue(entry)) return;
    const goesOn = await this.#progress.note(entry);
    // It may have ended meanwhile, and another one begun.
    if (this.#going.get(entry.key) !== entry) return;
    if (!goesOn) await this.#finish(entry.key, null);
    else entry.recorder.limit(await this.#progress.roomOf(entry));
  }

  #byId(id: string): ActiveRecording | undefined {
    return [...this.#going.values()].find(({ recording }) => recording.id === id);
  }
}

function follow(stream: TerminalStream, { recorder: taken }: ActiveRecording): void {
  stream.tap({
    output: (chunk) => taken.output(chunk),
    resized: (cols, rows) => taken.resized({ cols, rows }),
  });
}
