import { freeName, plainName } from './file-names.ts';

/** Names that uploads under way to one container have taken, until the last of them ends. */
type Taken = { readonly names: Set<string>; uploads: number };

const takenIn = new Map<string, Taken>();

/** A file, and the name that it gets. */
type Named<F> = { readonly file: F; readonly name: string };

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
    return await upload(files.map((file) => ({ file, name: take(file.name, there, taken.names) })));
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
