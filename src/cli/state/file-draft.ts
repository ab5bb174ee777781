import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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

function named(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
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
