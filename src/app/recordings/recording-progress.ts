import { countedBytes, type Recording, remainingQuota } from '../../domain/terminals/recording.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { RecordingEnd } from '../../ports/terminals/recording-repository.ts';
import type { Recorder } from './recorder.ts';

/** Each is heard of at least so often, also when its terminal is quiet. */
const SEEN_EVERY_MS = 15_000;

/** One that this process makes now, and what was written down of it last. */
export type ActiveRecording = {
  readonly recording: Recording;
  readonly key: TerminalKey;
  readonly recorder: Recorder;
  notedBytes: number;
  notedAtMs: number;
};

export type RecordingProgressDeps = {
  readonly repositories: Pick<Repositories, 'recordings' | 'settings'>;
  readonly log: Logger;
  readonly monotonicMs: () => number;
};

export type RecordingProgress = ReturnType<typeof recordingProgress>;

/** What the rows tell of recordings that this process makes: how far each is, its end, and what room that leaves. */
export function recordingProgress({ repositories, log, monotonicMs }: RecordingProgressDeps) {
  const { recordings, settings } = repositories;

  /** What the user's other recordings leave; null for too little. */
  async function room(userId: string, ownBytes: number): Promise<number | null> {
    const { recordingsMbPerUser } = await settings.read();
    return remainingQuota(recordingsMbPerUser, (await recordings.usedBytes(userId)) - ownBytes);
  }

  return {
    /** What there is for a new one; null for too little. */
    roomForNew: (userId: string): Promise<number | null> => room(userId, 0),

    /** What there is for one that goes on, with what it has taken already. */
    roomOf: async ({ recording, notedBytes }: ActiveRecording): Promise<number> =>
      (await room(recording.userId, countedBytes(notedBytes))) ?? 0,

    isDue({ recorder, notedBytes, notedAtMs }: ActiveRecording): boolean {
      const isQuiet = recorder.facts().sizeBytes === notedBytes;
      return !isQuiet || monotonicMs() - notedAtMs >= SEEN_EVERY_MS;
    },

    /** Whether it is still to go on. */
    async note(entry: ActiveRecording): Promise<boolean> {
      const { id, userId } = entry.recording;
      const facts = entry.recorder.facts();
      entry.notedBytes = facts.sizeBytes;
      entry.notedAtMs = monotonicMs();
      return await recordings.progress(id, userId, facts);
    },

    /** Once all of it is in its file. */
    async end(
      { recording, recorder }: ActiveRecording,
      state: RecordingEnd['state'],
    ): Promise<Recording | null> {
      const { id, userId } = recording;
      try {
        return await recordings.end(id, userId, { state, ...(await recorder.end()) });
      } catch (err) {
        // Its row stays as one that goes on; silence ends it later.
        log.warn({ err, id }, 'could not save the end of a recording');
        return null;
      }
    },
  };
}
