import { countedBytes, type Recording, remainingQuota } from '../../domain/terminals/recording.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { RecordingEnd } from '../../ports/terminals/recording-repository.ts';
import type { Recorder } from './recorder.ts';

/** The longest interval between notes, also of a quiet terminal. */
const SEEN_EVERY_MS = 15_000;

/** An active recording of this process, and what its row has. */
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

/** The rows of this process's recordings: their progress, their end, and the remaining quota. */
export function recordingProgress({ repositories, log, monotonicMs }: RecordingProgressDeps) {
  const { recordings, settings } = repositories;

  /** What the user's other recordings leave; null when too little. */
  async function room(userId: string, ownBytes: number): Promise<number | null> {
    const { recordingsMbPerUser } = await settings.read();
    return remainingQuota(recordingsMbPerUser, (await recordings.usedBytes(userId)) - ownBytes);
  }

  return {
    /** null when too little. */
    roomForNew: (userId: string): Promise<number | null> => room(userId, 0),

    /** For an active one, including what it has used. */
    roomOf: async ({ recording, notedBytes }: ActiveRecording): Promise<number> =>
      (await room(recording.userId, countedBytes(notedBytes))) ?? 0,

    isDue({ recorder, notedBytes, notedAtMs }: ActiveRecording): boolean {
      const isQuiet = recorder.facts().sizeBytes === notedBytes;
      return !isQuiet || monotonicMs() - notedAtMs >= SEEN_EVERY_MS;
    },

    /** Returns whether it is still active. */
    async note(entry: ActiveRecording): Promise<boolean> {
      const { id, userId } = entry.recording;
      const facts = entry.recorder.facts();
      entry.notedBytes = facts.sizeBytes;
      entry.notedAtMs = monotonicMs();
      return await recordings.progress(id, userId, facts);
    },

    /** Call it when the file is complete. */
    async end(
      { recording, recorder }: ActiveRecording,
      state: RecordingEnd['state'],
    ): Promise<Recording | null> {
      const { id, userId } = recording;
      try {
        return await recordings.end(id, userId, { state, ...(await recorder.end()) });
      } catch (err) {
        // Its row stays active; the silence limit ends it later.
        log.warn({ err, id }, 'could not save the end of a recording');
        return null;
      }
    },
  };
}
