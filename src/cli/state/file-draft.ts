import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { CliError } from '../cli-error.ts';

/** A file beside another one that replaces it when it is complete. */
export type FileDraft = { replaceBy(text: string): void; remove(): void };

/**
 * Begins to replace a file, which only its owner can read then; a symbolic link stays, and what it names is replaced.
 * Throws a {@link CliError} unless there is room for `roomBytes`.
 */
export function fileDraft(file: string, roomBytes = 0): FileDraft {
  const target = named(file);
  const draft = `${target}.${process.pid}`;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      rmSync(draft, { force: true });
      throw new CliError(`${file} cannot be written: ${(error as Error).message}`);
    }
  };
  attempt(() => writeFileSync(draft, ' '.repeat(roomBytes), { mode: 0o600, flush: true }));
  return {
    replaceBy: (text) =>
      attempt(() => {
        overwrite(draft, text);
        renameSync(draft, target);
      }),
    remove: () => rmSync(draft, { force: true }),
  };
}

/** What a symbolic link names, even where that is not there yet. */
function named(file: string, mostLinks = 40): string {
  if (existsSync(file)) return realpathSync(file);
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (!isLink || mostLinks === 0) return file;
  return named(path.resolve(realpathSync(path.dirname(file)), readlinkSync(file)), mostLinks - 1);
}

/** Uses the room that the file has. */
function overwrite(file: string, text: string): void {
  const opened = openSync(file, 'r+');
  try {
    writeFileSync(opened, text);
    ftruncateSync(opened, Buffer.byteLength(text));
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
