import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { printable } from '../io/io.ts';

/** What a folder contains, by its path below that folder. */
export type Walked =
  | { readonly kind: 'file'; readonly below: string; readonly isExecutable: boolean }
  | { readonly kind: 'empty folder'; readonly below: string };

/** Files and empty folders below a folder, in order of their names. Links are not followed, but named to `notify`. */
export async function* walk(
  root: string,
  notify: (line: string) => void,
  below = '',
): AsyncGenerator<Walked, void, undefined> {
  const entries = await readdir(path.join(root, below), { withFileTypes: true });
  if (entries.length === 0 && below !== '') yield { kind: 'empty folder', below };
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* walk(root, notify, inner);
    else if (entry.isFile()) {
      const { mode } = await lstat(path.join(root, inner));
      yield { kind: 'file', below: inner, isExecutable: (mode & 0o111) !== 0 };
    } else {
      const what = entry.isSymbolicLink() ? 'a symbolic link' : 'neither a file nor a folder';
      notify(`Left out: ${printable(inner)} is ${what}.`);
    }
  }
}

/** Acts on all items, on several at once. The first failure stops the rest by the signal. */
export async function onEach<T>(
  items: AsyncIterable<T>,
  atOnce: number,
  act: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const source = items[Symbol.asyncIterator]();
  const worker = async (): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await source.next();
        if (done === true || stop.signal.aborted) return;
        await act(value, stop.signal);
      }
    } catch (failure) {
      stop.abort(failure);
      throw failure;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  if (ends.some(({ status }) => status === 'rejected')) throw stop.signal.reason;
}
