import { constants, type Stats } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import path from 'node:path';
import { Header } from 'tar/header';
import { Pax } from 'tar/pax';
import { FILE_LIMITS } from '../../domain/containers/files.ts';
import { namesIn } from './folder-names.ts';

const BLOCK = 512;
const READ_BYTES = 65_536;

/**
 * A folder as tar, below `name`: regular files and folders only, of those what this user may read, and no names that
 * are not UTF-8. Fails when it is larger than an archive may be.
 */
export async function* archiveOf(folder: string, name: string): AsyncGenerator<Buffer> {
  let [entries, bytes] = [0, 0];
  for await (const { file, below, found } of walk(folder, name)) {
    entries++;
    bytes += found.size;
    if (entries > FILE_LIMITS.archived || bytes > FILE_LIMITS.archiveBytes)
      throw new Error('the folder is too large for an archive');
    if (found.isDirectory()) yield* head(`${below}/`, found, 0);
    else yield* content(file, below);
  }
  yield Buffer.alloc(2 * BLOCK);
}

type Found = { readonly file: string; readonly below: string; readonly found: Stats };

/** Folders before what is in them. What vanishes meanwhile, and what may not be read, is omitted. */
async function* walk(file: string, below: string): AsyncGenerator<Found> {
  const found = await lstat(file).catch(() => null);
  if (found?.isFile()) yield { file, below, found };
  if (!found?.isDirectory()) return;
  const names = await namesIn(file).catch(() => null);
  if (names === null) return;
  yield { file, below, found };
  for (const name of names.names) yield* walk(path.join(file, name), `${below}/${name}`);
}

async function* content(file: string, below: string): AsyncGenerator<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const opened = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (opened === null) return;
  try {
    const found = await opened.stat();
    if (!found.isFile()) return;
    yield* head(below, found, found.size);
    const padded = Math.ceil(found.size / BLOCK) * BLOCK;
    for (let at = 0; at < padded; ) {
      const piece = Buffer.alloc(Math.min(READ_BYTES, padded - at));
      const wanted = Math.min(piece.length, found.size - at);
      const { bytesRead } = await opened.read(piece, 0, Math.max(0, wanted), at);
      // what a file has lost since is sent as zeros: its size has been announced
      const sent = bytesRead < wanted && bytesRead > 0 ? bytesRead : piece.length;
      yield piece.subarray(0, sent);
      at += sent;
    }
  } finally {
    await opened.close();
  }
}

function* head(below: string, { mode, mtime }: Stats, size: number): Generator<Buffer> {
  const type = below.endsWith('/') ? 'Directory' : 'File';
  const entry = { path: below, mode: mode & 0o777, mtime, size, type } as const;
  const block = Buffer.alloc(BLOCK);
  if (new Header(entry).encode(block)) yield new Pax(entry).encode();
  yield block;
}
