import type { Readable } from 'node:stream';
import type { CastFacts } from '../../domain/terminals/recording.ts';

/** A file that grows. */
export interface RecordingFile {
  /** The lines last, also through a crash of the machine, when it answers. One call at a time. */
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}

/** Where the recordings that this process can reach have their files. Ids are UUIDs. */
export interface RecordingFiles {
  /** A new, empty file. */
  create(id: string): Promise<RecordingFile>;
  /** What is in the file, but for what comes after `maxBytes`; null when there is none here. */
  read(
    id: string,
    maxBytes: number,
  ): Promise<{ readonly content: Readable; readonly sizeBytes: number } | null>;
  /** Removes what a crash left half written at the end, and tells what remains; null when there is none here. */
  mend(id: string): Promise<CastFacts | null>;
  /** Absent is success. */
  remove(id: string): Promise<void>;
  /** Ids of the files that were not written to for so long. */
  untouched(forMs: number): Promise<readonly string[]>;
}
