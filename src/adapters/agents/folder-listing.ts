import { entryJsonBytes, FILE_LIMITS, type FileEntry } from '../../domain/containers/files.ts';
import { RuntimeFailure } from '../../ports/containers/container-runtime.ts';
import type { OutputRoom } from '../../ports/output-room.ts';
import { decodeEntry } from '../../protocol/agent/index.ts';
import type { DownloadStream } from './download-stream.ts';

/** As for a record of a container's listing; no entry needs more. */
const MAX_LINE_BYTES = 8192;
const LINE_END = 0x0a;

/** Reads a listing, within the limits of one. Above the free size of `room` it waits for permission. */
export async function listingOf(
  stream: DownloadStream,
  room: OutputRoom | undefined,
): Promise<{ readonly entries: readonly FileEntry[]; readonly complete: boolean }> {
  const entries: FileEntry[] = [];
  let bytes = 0;
  let freeBytes = room?.freeBytes ?? Number.POSITIVE_INFINITY;
  try {
    for await (const line of linesOf(stream)) {
      const entry = entryOf(line);
      bytes += entryJsonBytes(entry);
      if (entries.length === FILE_LIMITS.listed || bytes > FILE_LIMITS.listedJsonBytes)
        return { entries, complete: false };
      if (bytes > freeBytes) {
        freeBytes = Number.POSITIVE_INFINITY;
        await room?.more();
      }
      entries.push(entry);
    }
    return { entries, complete: stream.isComplete };
  } finally {
    stream.destroy();
  }
}

/** The user can run another agent, whose lines may never end. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(LINE_END); end >= 0; end = rest.indexOf(LINE_END, start)) {
      yield rest.toString('utf8', start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > MAX_LINE_BYTES) throw malformed();
  }
  if (rest.length > 0) yield rest.toString();
}

const malformed = (): RuntimeFailure => new RuntimeFailure('an agent sent a malformed listing');

function entryOf(line: string): FileEntry {
  const entry = decodeEntry(line);
  if (entry === null) throw malformed();
  return {
    name: entry.name,
    kind: entry.kind,
    sizeBytes: entry.size_bytes,
    mode: entry.mode,
    modifiedAt: new Date(entry.modified_at),
  };
}
