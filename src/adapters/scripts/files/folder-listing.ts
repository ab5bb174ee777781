import { entryJsonBytes, type FileEntry, type FileKind } from '../../../domain/containers/files.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import { fileTime } from './file-times.ts';

const KINDS = new Map<number, FileKind>([
  [0o100000, 'file'],
  [0o040000, 'folder'],
  [0o120000, 'link'],
]);
const KIND_BITS = 0o170000;
const PERMISSION_BITS = 0o7777;
const MAX_RECORD_BYTES = 8192;
const SLASH = 0x2f;
/** `mode/size/mtime/./name/`, and the line end before the next record. */
const RECORD_FIELDS = 5;
const LAST_FIELD = 'end';

type Limits = { readonly listed: number; readonly listedJsonBytes: number };

/**
 * Reads the output of `stat`, sorted by name. Entries above the limit and names that are not UTF-8 are omitted, and
 * `complete` is then false.
 */
export async function listing(
  output: AsyncIterable<Buffer>,
  { listed, listedJsonBytes }: Limits,
  room?: OutputRoom,
): Promise<{ readonly entries: readonly FileEntry[]; readonly complete: boolean }> {
  const entries: FileEntry[] = [];
  let complete = true;
  let bytes = 0;
  let free = room?.freeBytes ?? Number.POSITIVE_INFINITY;
  for await (const fields of records(output)) {
    const entry = entryOf(fields);
    if (entry === null) {
      complete = false;
      continue;
    }
    bytes += entryJsonBytes(entry);
    if (entries.length === listed || bytes > listedJsonBytes)
      return { entries: sorted(entries), complete: false };
    if (bytes > free) {
      free = Number.POSITIVE_INFINITY;
      await room?.more();
    }
    entries.push(entry);
  }
  return { entries: sorted(entries), complete };
}

const sorted = (entries: FileEntry[]): readonly FileEntry[] =>
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));

async function* records(output: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let rest = Buffer.alloc(0);
  let fields: Buffer[] = [];
  for await (const chunk of output) {
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    for (let slash = rest.indexOf(SLASH); slash >= 0; slash = rest.indexOf(SLASH, at)) {
      fields.push(rest.subarray(at, slash));
      at = slash + 1;
      if (fields.length < RECORD_FIELDS) continue;
      yield fields;
      fields = [];
    }
    rest = rest.subarray(at);
    if (rest.length > MAX_RECORD_BYTES) break;
  }
  if (String(fields[0]).trim() !== LAST_FIELD)
    throw new RuntimeFailure('the list of a folder ended too early');
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function entryOf([modeField, size, modified, , nameField]: readonly Buffer[]): FileEntry | null {
  const bits = Number.parseInt(String(modeField).trim(), 16);
  const [sizeBytes, seconds] = [Number(String(size)), Number(String(modified))];
  const name = decoded(nameField);
  if (name === null || !Number.isSafeInteger(bits + sizeBytes + seconds) || sizeBytes < 0) return null;
  return {
    name,
    kind: KINDS.get(bits & KIND_BITS) ?? 'other',
    sizeBytes,
    mode: bits & PERMISSION_BITS,
    modifiedAt: fileTime(seconds),
  };
}

function decoded(bytes: Buffer | undefined): string | null {
  try {
    return bytes === undefined || bytes.length === 0 ? null : utf8.decode(bytes);
  } catch {
    return null;
  }
}
