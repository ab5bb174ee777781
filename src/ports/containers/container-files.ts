import type { Readable } from 'node:stream';
import type { FileEntry, FileError, FilePath } from '../../domain/containers/files.ts';
import type { Result } from '../../domain/result.ts';
import type { OutputRoom, RuntimeHandle } from './container-runtime.ts';

/** Destroying `content` ends the reading inside the container. It fails rather than end early or late. */
export type Opened =
  | {
      readonly kind: 'file';
      readonly sizeBytes: number;
      readonly modifiedAt: Date;
      readonly content: Readable;
    }
  /** A folder as tar: regular files and folders alone, below its own name. */
  | { readonly kind: 'archive'; readonly content: Readable }
  /** Sorted by name. Cut at the limits of number and size, and without names that are not UTF-8: then `complete` is false. */
  | { readonly kind: 'listing'; readonly entries: readonly FileEntry[]; readonly complete: boolean };

export type Written = { readonly sizeBytes: number; readonly isNew: boolean };

/**
 * Files below the home of a running container, with the rights of its user. The last name of a path is never
 * followed when it is a link; folders on the way may be links that stay inside the home.
 * Throws `ContainerNotRunning`.
 */
export interface ContainerFiles {
  /** `room`: how much of a listing may be kept; above `freeBytes` of JSON it asks for more. */
  open(
    handle: RuntimeHandle,
    path: FilePath,
    folderAs: 'archive' | 'listing',
    room?: OutputRoom,
  ): Promise<Result<Opened, FileError>>;
  /**
   * Makes missing folders and puts the whole content there at once: until then, and after any failure, what was
   * there stays. Leaves unread content unread.
   */
  write(
    handle: RuntimeHandle,
    path: FilePath,
    content: Readable,
    maxBytes: number,
  ): Promise<Result<Written, FileError>>;
  /** Removes a file, a link, or a folder with all inside. */
  remove(handle: RuntimeHandle, path: FilePath): Promise<Result<null, FileError>>;
}
