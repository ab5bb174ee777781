import { randomUUID } from 'node:crypto';
import type { DomainError } from '../../domain/errors.ts';
import type { Origin } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { CutReason, Recording } from '../../domain/terminals/recording.ts';
import { RECORDING_WORDS } from '../../domain/terminals/recording.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { RecordingFiles } from '../../ports/terminals/recording-files.ts';
import type { TerminalStream } from '../terminals/output/terminal-stream.ts';
import type { LiveTerminal } from '../terminals/terminal-connections.ts';
import { recorder } from './recorder.ts';
import type { RecordingMessages } from './recording-messages.ts';
import { type Going, recordingProgress } from './recording-progress.ts';
import { recordStarted } from './recording-records.ts';
import { writeBacklog } from './recording-start.ts';

export type LiveRecordingsDeps = {
  readonly storage: Storage;
  readonly files: RecordingFiles;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly log: Logger;
  /** UUID of this process. */
  readonly replica: string;
  readonly messages: Pick<RecordingMessages, 'publishNotice'>;
};

/** `includesBuffered`: starts with the output that its stream has buffered. */
type Beginning = {
  readonly containerName: string;
  readonly origin: Origin;
  readonly includesBuffered: boolean;
};

export type LiveRecordings = ReturnType<typeof liveRecordings>;

/** The recordings that this process makes now: each follows a terminal from stream to stream until it is gone. */
export function liveRecordings(deps: LiveRecordingsDeps) {
  const { storage, files, clock, monotonicMs, log, replica, messages } = deps;
  const progress = recordingProgress({ repositories: storage.repositories, log, monotonicMs });
  const streams = new Map<TerminalKey, TerminalStream>();
  const going = new Map<TerminalKey, Going>();
  const starting = new Map<TerminalKey, Promise<Result<Recording, DomainError>>>();
  const ends = new Map<string, Promise<Recording | null>>();

  function follow(key: TerminalKey, stream: TerminalStream, { recorder: taken }: Going): void {
    stream.tap({ output: taken.output, resized: (cols, rows) => taken.resized({ cols, rows }) });
    streams.set(key, stream);
  }

  async function start(
    terminal: LiveTerminal,
    { containerName, origin, includesBuffered }: Beginning,
  ): Promise<Result<Recording, DomainError>> {
    const limitBytes = await progress.roomForNew(terminal.userId);
    if (limitBytes === null) return refuse({ code: 'recording_quota_reached' });
    const id = randomUUID();
    const file = await files.create(id);
    try {
      const recording = await recordStarted(storage, { id, containerName, replica }, terminal, origin);
      const made = recorder({
        file,
        startedAt: clock.now(),
        size: terminal,
        limitBytes,
        monotonicMs,
        onCut: (why) => void finish(terminal.key, why),
      });
      const entry = { recording, key: terminal.key, recorder: made, notedBytes: 0, notedAtMs: monotonicMs() };
      going.set(terminal.key, entry);
      const stream = streams.get(terminal.key);
      if (stream === undefined) return ok((await finish(terminal.key, null)) ?? recording);
      await take(entry, stream, terminal, includesBuffered);
      return ok(recording);
    } catch (error) {
      await file.close();
      await files.remove(id);
      throw error;
    }
  }

  /** Writes what the terminal shows already, and follows it: all buffered output, or a picture of the screen. */
  async function take(
    entry: Going,
    stream: TerminalStream,
    terminal: LiveTerminal,
    includesBuffered: boolean,
  ): Promise<void> {
    const { key, recorder: made } = entry;
    const picture = includesBuffered ? null : await stream.snapshot();
    // Meanwhile it may have ended, or its terminal begun anew.
    if (going.get(key) !== entry) return;
    messages.publishNotice(entry.recording, true, RECORDING_WORDS.started);
    if (streams.get(key) !== stream) return;
    made.resized(terminal);
    writeBacklog(made, stream, picture);
    // The buffered output may be more than there is room for.
    if (going.get(key) === entry) follow(key, stream, entry);
  }

  /** The recording of this terminal: the one that goes on, or a new one. */
  function begin(terminal: LiveTerminal, how: Beginning): Promise<Result<Recording, DomainError>> {
    const entry = going.get(terminal.key);
    if (entry !== undefined) return Promise.resolve(ok(entry.recording));
    const before = starting.get(terminal.key);
    if (before !== undefined) return before;
    const made = start(terminal, how).finally(() => starting.delete(terminal.key));
    starting.set(terminal.key, made);
    return made;
  }

  /** Ends what is recorded under a key, if anything; `why` when nobody asked for it. */
  function finish(key: TerminalKey, why: CutReason | null): Promise<Recording | null> {
    const entry = going.get(key);
    if (entry === undefined) return Promise.resolve(null);
    going.delete(key);
    streams.get(key)?.tap(null);
    messages.publishNotice(entry.recording, false, RECORDING_WORDS[why ?? 'ended']);
    const end = progress
      .end(entry, why === null ? 'ended' : 'truncated')
      .finally(() => ends.delete(entry.recording.id));
    ends.set(entry.recording.id, end);
    return end;
  }

  async function note(entry: Going): Promise<void> {
    if (!progress.isDue(entry)) return;
    const goesOn = await progress.note(entry);
    // Meanwhile it may have ended, and another one begun.
    if (going.get(entry.key) !== entry) return;
    if (!goesOn) await finish(entry.key, null);
    else entry.recorder.limit(await progress.roomOf(entry));
  }

  return {
    /** A terminal has a new stream. */
    opened(key: TerminalKey, stream: TerminalStream): void {
      // The last words of the one before do not belong on the new screen.
      streams.get(key)?.tap(null);
      streams.set(key, stream);
      const entry = going.get(key);
      if (entry === undefined) return;
      entry.recorder.startAnew();
      follow(key, stream, entry);
    },

    /** A terminal is gone. */
    emptied(key: TerminalKey): void {
      void finish(key, null);
      streams.delete(key);
    },

    begin,

    /** Whether the user may have one more. */
    hasRoom: async (userId: string): Promise<boolean> => (await progress.roomForNew(userId)) !== null,

    all: (): readonly Recording[] => [...going.values()].map(({ recording }) => recording),

    /** What is in the file of one that goes on here; null for any other. */
    facts: (id: string) => byId(id)?.recorder.facts() ?? null,

    /** Ends one that goes on here. null for any other, and when its end could not be written. */
    async stop(id: string): Promise<Recording | null> {
      const entry = byId(id);
      return entry === undefined ? ((await ends.get(id)) ?? null) : await finish(entry.key, null);
    },

    /** Writes down how far all have come, and ends those that were ended elsewhere; for a timer. */
    async tick(): Promise<void> {
      await Promise.all([...going.values()].map(note));
    },

    /** When what has ended is in its file. */
    idle: async (): Promise<void> => void (await Promise.all(ends.values())),
  };

  function byId(id: string): Going | undefined {
    return [...going.values()].find(({ recording }) => recording.id === id);
  }
}
