import { createInterface } from 'node:readline';
import { entryJsonBytes, FILE_LIMITS, type FileEntry } from '../../domain/containers/files.ts';
import { RuntimeFailure } from '../../ports/containers/container-runtime.ts';
import type { OutputRoom } from '../../ports/output-room.ts';
import { decodeEntry } from '../../protocol/agent/index.ts';
import type { DownloadStream } from './download-stream.ts';

/** Reads a listing, within the limits of one. Above the free size of `room` it waits for permission. */
export async function listingOf(
  stream: DownloadStream,
  room: OutputRoom | undefined,
): Promise<{ readonly entries: readonly FileEntry[]; readonly complete: boolean }> {
  const entries: FileEntry[] = [];
  let bytes = 0;
  let freeBytes = room?.freeBytes ?? Number.POSITIVE_INFINITY;
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
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
    if (stream.errored !== null) throw stream.errored;
    return { entries, complete: stream.isComplete };
  } finally {
    stream.destroy();
  }
}

function entryOf(line: string): FileEntry {
  const entry = decodeEntry(line);
  if (entry === null) throw new RuntimeFailure('an agent sent a malformed listing');
  return {
    name: entry.name,
    kind: entry.kind,
    sizeBytes: entry.size_bytes,
    mode: entry.mode,
    modifiedAt: new Date(entry.modified_at),
  };
}
