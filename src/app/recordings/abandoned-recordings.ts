import type { Recording } from '../../domain/terminals/recording.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ListedRecordingFile, RecordingFiles } from '../../ports/terminals/recording-files.ts';
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
  readonly log: Logger;
};

const KEPT =
  'this database does not know some files in the recordings folder; Berth keeps them. If this is the wrong database, ' +
  'start with the right one; else move these files to another folder';

/** Ends recordings of dead processes, and removes files without a row from the installation's own folder. */
export function abandonedRecordings(deps: AbandonedRecordingsDeps) {
  const { storage, files, live, replica, log } = deps;
  const { recordings, installation } = storage.repositories;
  let hasWarned = false;

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

  async function removeOld(unknown: readonly ListedRecordingFile[]): Promise<void> {
    const latest = Date.now() - ORPHAN_AFTER_MS;
    for (const { id, writtenAtMs } of unknown) if (writtenAtMs <= latest) await files.remove(id);
  }

  /**
   * Another database, such as a new one before its dump is restored, knows none of the files, so it does not claim a
   * folder with unknown files. An earlier version left its folder unclaimed: there one known file is enough.
   */
  async function removeUnknown(): Promise<void> {
    const listed = await files.list();
    const known = await recordings.known(listed.map(({ id }) => id));
    const unknown = listed.filter(({ id }) => !known.has(id));
    const [own, owner] = [await installation.id(), await files.owner()];
    const isOwn = owner === own;
    // A copy's files may all be young.
    const isKnown = unknown.length === 0 || (owner === null && known.size > 0);
    if (isKnown && !isOwn) await files.claim(own);
    if (isOwn) await removeOld(unknown);
    const keeps = !isOwn && !isKnown;
    if (keeps && !hasWarned) log.warn({ files: unknown.length, owner }, KEPT);
    hasWarned = keeps;
  }

  return {
    /** After a start: ends the recordings of an earlier run. */
    async takeOver(): Promise<void> {
      await settleAll(await recordings.silent(0, replica));
    },

    /** For a timer. */
    async sweep(): Promise<void> {
      await settleAll(await recordings.silent(SILENT_SECONDS, null));
      await removeUnknown();
    },
  };
}
