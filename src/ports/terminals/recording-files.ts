import type { Readable } from 'node:stream';
import type { CastFacts } from '../../domain/terminals/recording.ts';

/** An append-only file. */
export interface RecordingFile {
  /** When it resolves, the lines survive a crash of the machine. One call at a time. */
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}

/** The recording files that this process can reach. Ids are UUIDs. */
export interface RecordingFiles {
  /** A new, empty file. */
  create(id: string): Promise<RecordingFile>;
  /** The file up to `maxBytes`; null when it is not here. */
  read(
    id: string,
    maxBytes: number,
  ): Promise<{ readonly content: Readable; readonly sizeBytes: number } | null>;
  /** Removes the partial end that a crash left, and returns what remains; null when it is not here. */
  repair(id: string): Promise<CastFacts | null>;
  remove(id: string): Promise<void>;
  /** Ids of files not written for this long. */
  untouched(forMs: number): Promise<readonly string[]>;
  /** The id of the installation that has claimed the folder; null before. */
  owner(): Promise<string | null>;
  claim(installationId: string): Promise<void>;
}
