import type { Readable } from 'node:stream';
import type { FileEntry, FileError, FilePath } from '../../../domain/containers/files.ts';
import type { Result } from '../../../domain/result.ts';
import type { OutputRoom } from '../../output-room.ts';
import type { RuntimeHandle } from '../container-runtime.ts';

/** Destroying `content` ends the program inside the container. It fails if it is cut off or longer than announced. */
export type Opened =
  | {
      readonly kind: 'file';
      readonly sizeBytes: number;
      readonly modifiedAt: Date;
      readonly content: Readable;
    }
  /** A folder as tar: regular files and folders only, below its own name. */
  | { readonly kind: 'archive'; readonly content: Readable }
  /** Sorted by name. `complete` is false when limits cut it, or names that are not UTF-8 are omitted. */
  | { readonly kind: 'listing'; readonly entries: readonly FileEntry[]; readonly complete: boolean };

export type Written = { readonly sizeBytes: number; readonly isNew: boolean };

/**
 * Files below the home of a running container, with its user's rights. The last name of a path is never followed as a
 * link; folders on the way may be links inside the home. Throws `ContainerNotRunning`.
 */
export interface ContainerFiles {
  /** `room`: how much of a listing may be buffered; above `freeBytes` of JSON it asks for more. */
  open(
    handle: RuntimeHandle,
    path: FilePath,
    folderAs: 'archive' | 'listing',
    room?: OutputRoom,
  ): Promise<Result<Opened, FileError>>;
  /**
   * Creates missing folders and replaces the target atomically: until then, and after a failure, the old content stays.
   * With `mayReplace` of false, a file that is there is `file_in_the_way`, whenever it comes. Leaves unread content
   * unread. Throws `NotOffered`, and `OutcomeUnknown` only when the target may have been replaced.
   */
  write(
    handle: RuntimeHandle,
    path: FilePath,
    content: Readable,
    maxBytes: number,
    mayReplace?: boolean,
  ): Promise<Result<Written, FileError>>;
  /** Removes a file, a link, or a folder with its contents. Throws `OutcomeUnknown`. */
  remove(handle: RuntimeHandle, path: FilePath): Promise<Result<null, FileError>>;
}
