import type { Readable } from 'node:stream';
import type { CastFacts } from '../../domain/terminals/recording.ts';

/** An append-only file. */
export interface RecordingFile {
  /** When it resolves, the lines survive a crash of the machine. One call at a time. */
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}

export type ListedRecordingFile = {
  readonly id: string;
  /** Of its last write, by the clock of this machine. */
  readonly writtenAtMs: number;
};

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
  list(): Promise<readonly ListedRecordingFile[]>;
  /** The id of the installation that has claimed the folder; null before. */
  owner(): Promise<string | null>;
  claim(installationId: string): Promise<void>;
}
