import type { FileError, FilePath, SearchQuery } from '../../../domain/containers/files.ts';
import type { Result } from '../../../domain/result.ts';
import type { RuntimeHandle } from '../container-runtime.ts';

/** A line with the pattern. `line` and `column` count from 1, columns in characters. */
export type FileMatch = {
  readonly path: FilePath;
  readonly line: number;
  readonly column: number;
  /** The line, or at most 1,000 bytes of it with the match. */
  readonly text: string;
};

export type FileChange = {
  readonly type: 'created' | 'changed' | 'removed';
  readonly path: FilePath;
};

/** The changes since the last look, or why there are no more. */
export type FileChanges =
  | { readonly kind: 'changes'; readonly changes: readonly FileChange[] }
  | { readonly kind: 'too_many' };

/** A program in the container, as it works. Unread output blocks it. A caller that stops reading must `end` it. */
export type FileProgram<T> = {
  readonly items: AsyncIterable<T>;
  /** Ends the program, and the items. Never throws. */
  end(): Promise<void>;
};

/**
 * Looks through files below the home of a running container, with its user's rights. Links are not followed. Throws
 * `ContainerNotRunning`.
 */
export interface FileSearch {
  /**
   * The lines with a pattern in regular text files, in no order; lines that are not UTF-8 text are omitted. The last item
   * says that everything was read.
   */
  search(
    handle: RuntimeHandle,
    path: FilePath,
    query: SearchQuery,
  ): Promise<Result<FileProgram<FileMatch | 'complete'>, FileError | { readonly code: 'pattern_invalid' }>>;
  /**
   * The changes of a folder's entries, a list every few seconds: empty first, when everything has been seen once. Gives
   * up at `maxEntries`.
   */
  watch(
    handle: RuntimeHandle,
    path: FilePath,
    options: { readonly isRecursive: boolean; readonly maxEntries: number },
  ): Promise<Result<FileProgram<FileChanges>, FileError>>;
}
