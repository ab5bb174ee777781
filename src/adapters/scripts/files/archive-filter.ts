import { Header } from 'tar/header';
import { Pax } from 'tar/pax';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { blocks } from './byte-reader.ts';

export type ArchiveLimits = {
  readonly depth: number;
  readonly archived: number;
  readonly archiveBytes: number;
};

const BLOCK = 512;
/** Long names precede their entry as one of their own. */
const MAX_META_BYTES = 16_384;
const META = ['NextFileHasLongPath', 'NextFileHasLongLinkpath', 'ExtendedHeader', 'GlobalExtendedHeader'];

type Entry = {
  readonly path: readonly string[];
  readonly isFolder: boolean;
  readonly sizeBytes: number;
  readonly mode: number;
  readonly modifiedAt: Date;
};

/**
 * Passes a tar stream's regular files and folders below `root`, and omits all else: symbolic links, devices, and names that
 * climb, are too deep or not UTF-8. A name that only refers to a file before it gets its content from the archives that
 * follow; without them the stream is an error. The stream is untrusted: exceeding the limits or a broken header is an error.
 */
export async function* onlyFilesAndFolders(
  source: AsyncIterable<Buffer>,
  root: string,
  limits: ArchiveLimits,
): AsyncGenerator<Buffer> {
  const reader = blocks(source);
  const count = counted(limits);
  const links = linkedNames();
  for (let names: Names = {}; !links.areComplete(); ) {
    const block = await reader.take(BLOCK);
    if (block === null) throw tooEarly();
    const header = headerOf(block, names);
    count(header);
    if (header === null) {
      links.end();
      continue;
    }
    if (META.includes(header.type)) {
      names = { ...names, ...(await longNames(header.type, header.size, reader.take)) };
      continue;
    }
    names = {};
    const entry = entryOf(header, root, limits.depth, links.take);
    const padded = Math.ceil(header.size / BLOCK) * BLOCK;
    if (entry !== null) yield* encode(entry);
    for await (const chunk of reader.pass(padded)) if (entry !== null) yield chunk;
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** Returns a counter of entries and bytes that throws beyond the limits. The end of an archive is a block. */
function counted({ archived, archiveBytes }: ArchiveLimits): (header: Decoded | null) => void {
  let [entries, bytes] = [0, 0];
  return (header) => {
    if (header !== null) entries += 1;
    bytes += header?.size ?? BLOCK;
    if (entries > archived || bytes > archiveBytes)
      throw new RuntimeFailure('the folder is too large for an archive');
  };
}

/** Names without content in the first archive, which that of later ones is for. */
function linkedNames() {
  const waiting = new Set<string>();
  let isOver = false;
  return {
    /** Whether an archive has ended, and nothing else is needed. */
    areComplete: (): boolean => isOver && waiting.size === 0,
    end(): void {
      isOver = true;
    },
    /** Whether the entry is needed. */
    take({ type }: Decoded, place: readonly string[]): boolean {
      const name = place.join('/');
      if (isOver) return waiting.delete(name);
      if (type === 'Link') waiting.add(name);
      return true;
    },
  };
}

const tooEarly = (): RuntimeFailure => new RuntimeFailure('the archive ended too early');

type Names = { readonly path?: string; readonly size?: number };
type Decoded = {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  readonly header: Header;
};

/**
 * null at the end of the archive. The long name must be applied before the type is read: a truncated one may look like
 * a folder.
 */
function headerOf(block: Buffer, names: Names): Decoded | null {
  const header = new Header(block, 0, names);
  if (header.nullBlock) return null;
  const { path = '', type, size = 0, cksumValid } = header;
  if (!cksumValid || !Number.isSafeInteger(size)) throw new RuntimeFailure('the archive is broken');
  return { path, type, size: sizeOf(header, size), header };
}

/** Folders, links and devices have no content, whatever their header says. */
const sizeOf = ({ type }: Header, size: number): number =>
  ['Directory', 'SymbolicLink', 'CharacterDevice', 'BlockDevice', 'FIFO', 'Link'].includes(type) ? 0 : size;

async function longNames(
  type: string,
  size: number,
  take: (bytes: number) => Promise<Buffer | null>,
): Promise<Names> {
  if (size > MAX_META_BYTES) throw new RuntimeFailure('the archive has a name that is too long');
  const padded = await take(Math.ceil(size / BLOCK) * BLOCK);
  if (padded === null) throw tooEarly();
  const content = padded.subarray(0, size).toString();
  if (type === 'NextFileHasLongPath') return { path: content.replace(/\0.*/s, '') };
  if (type !== 'ExtendedHeader') return {};
  const { path, size: paxSize } = Pax.parse(content);
  return { ...(path === undefined ? {} : { path }), ...(paxSize === undefined ? {} : { size: paxSize }) };
}

/** Where an entry goes below the root; null for a name that is omitted. */
function placeOf({ path, type }: Decoded, maxDepth: number): readonly string[] | null {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  // U+FFFD stands for bytes that are not UTF-8.
  if (names.includes('..') || names.length > maxDepth || /[\0\uFFFD]/.test(path)) return null;
  return type !== 'Directory' && names.length === 0 ? null : names;
}

function entryOf(
  decoded: Decoded,
  root: string,
  maxDepth: number,
  isNeeded: (decoded: Decoded, place: readonly string[]) => boolean,
): Entry | null {
  const { type, size, header } = decoded;
  const place = placeOf(decoded, maxDepth);
  if (place === null || !isNeeded(decoded, place)) return null;
  const isFolder = type === 'Directory';
  if (!isFolder && type !== 'File' && type !== 'OldFile') return null;
  return {
    path: [root, ...place],
    isFolder,
    sizeBytes: size,
    mode: (header.mode ?? 0o644) & 0o777,
    modifiedAt: header.mtime ?? new Date(0),
  };
}

function* encode({ path, isFolder, sizeBytes, mode, modifiedAt }: Entry): Generator<Buffer> {
  const data = {
    path: path.join('/') + (isFolder ? '/' : ''),
    type: isFolder ? ('Directory' as const) : ('File' as const),
    mode,
    mtime: modifiedAt,
    size: sizeBytes,
  };
  const header = new Header(data);
  if (header.encode()) yield new Pax({ path: data.path, size: sizeBytes, mtime: modifiedAt }).encode();
  if (header.block !== undefined) yield header.block;
}
