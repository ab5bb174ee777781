import type { Recording } from '../../domain/terminals/recording.ts';
import type { Storage } from '../../ports/storage.ts';
import type { RecordingFiles } from '../../ports/terminals/recording-files.ts';
import type { ActiveRecordings } from './active-recordings.ts';

/** A process silent for longer makes no recording any more. */
const SILENT_SECONDS = 120;
/** A younger file without a row may be of a recording that is starting. */
const ORPHAN_AFTER_MS = 600_000;

export type AbandonedRecordingsDeps = {
  readonly storage: Pick<Storage, 'repositories'>;
  readonly files: RecordingFiles;
  readonly live: Pick<ActiveRecordings, 'facts'>;
  /** UUID of this process. */
  readonly replica: string;
};

/** Ends recordings of dead processes, and removes files without a row. */
export function abandonedRecordings({ storage, files, live, replica }: AbandonedRecordingsDeps) {
  const { recordings } = storage.repositories;

  /** The file decides, if it is here. */
  async function settle({ id, userId, sizeBytes, durationMs }: Recording): Promise<void> {
    const facts = (await files.repair(id)) ?? { sizeBytes, durationMs };
    await recordings.end(id, userId, { state: 'ended', ...facts });
  }

  async function settleAll(left: readonly Recording[]): Promise<void> {
    for (const recording of left) {
      if (live.facts(recording.id) === null) await settle(recording);
    }
  }

  return {
    /** After a start: ends the recordings of an earlier run. */
    async takeOver(): Promise<void> {
      await settleAll(await recordings.silent(0, replica));
    },

    /** For a timer. */
    async sweep(): Promise<void> {
      await settleAll(await recordings.silent(SILENT_SECONDS, null));
      const old = await files.untouched(ORPHAN_AFTER_MS);
      const known = await recordings.known(old);
      for (const id of old) if (!known.has(id)) await files.remove(id);
    },
  };
}
