import { BerthError } from '../api/errors.ts';
import { freeName, plainName } from './file-names.ts';

/** Names that uploads under way to one container have taken, until the last of them ends. */
type Taken = { readonly names: Set<string>; uploads: number };

const takenIn = new Map<string, Taken>();

/** A file and its name for the upload. `another` returns a next name, when somebody else has taken that one. */
export type Named<F> = { readonly file: F; readonly name: string; another(): string };

/**
 * Runs `upload` with a free name for each file: no file in the folder and no other upload to the container has it.
 * `namesThere`: reads the names in the folder.
 */
export async function withFreeNames<F extends { readonly name: string }, T>(
  containerId: string,
  files: readonly F[],
  namesThere: () => Promise<ReadonlySet<string>>,
  upload: (named: readonly Named<F>[]) => Promise<T>,
): Promise<T> {
  const taken = takenIn.get(containerId) ?? { names: new Set(), uploads: 0 };
  takenIn.set(containerId, taken);
  taken.uploads += 1;
  try {
    // why: names are chosen after the answer and without a pause, so that nobody takes one in between
    const there = await namesThere();
    const choose = ({ name }: F): string => take(name, there, taken.names);
    return await upload(files.map((file) => ({ file, name: choose(file), another: () => choose(file) })));
  } finally {
    taken.uploads -= 1;
    if (taken.uploads === 0) takenIn.delete(containerId);
  }
}

function take(wanted: string, there: ReadonlySet<string>, taken: Set<string>): string {
  const name = freeName(plainName(wanted), new Set([...there, ...taken]));
  taken.add(name);
  return name;
}

/** For several who upload files of one name at once. */
const TRIES = 10;

/** Sends a file to a path in /workspace, and to another when the name was taken meanwhile. Returns the path. */
export async function atFreeName(
  { name, another }: Named<unknown>,
  send: (path: string) => Promise<void>,
): Promise<string> {
  let path = `/workspace/${name}`;
  for (let tries = 1; ; tries += 1) {
    try {
      await send(path);
      return path;
    } catch (failure) {
      const isTaken = failure instanceof BerthError && failure.code === 'file_in_the_way';
      if (!isTaken || tries === TRIES) throw failure;
      path = `/workspace/${another()}`;
    }
  }
}
