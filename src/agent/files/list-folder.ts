import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { entryJsonBytes, FILE_LIMITS, type FileEntry } from '../../domain/containers/files.ts';
import { encodeEntry } from '../../protocol/agent/index.ts';
import { namesIn } from './folder-names.ts';

/** Entries whose details are read at once. */
const AT_ONCE = 32;

/** A folder's entries as lines, sorted by name. Not complete when limits cut it, or names are not UTF-8. */
export async function listFolder(folder: string): Promise<{ lines: string[]; complete: boolean }> {
  const { names, complete } = await namesIn(folder, FILE_LIMITS.listed);
  const lines: string[] = [];
  let jsonBytes = 0;
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const entries = await Promise.all(names.slice(at, at + AT_ONCE).map((name) => entryOf(folder, name)));
    for (const entry of entries) {
      if (entry === null) continue;
      jsonBytes += entryJsonBytes(entry);
      if (jsonBytes > FILE_LIMITS.listedJsonBytes) return { lines, complete: false };
      lines.push(lineOf(entry));
    }
  }
  return { lines, complete };
}

/** null for one that has vanished. */
export async function entryOf(folder: string, name: string): Promise<FileEntry | null> {
  const found = await lstat(path.join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return null;
  const { size, mode, mtime } = found;
  return { name, kind: kindOf(found), sizeBytes: size, mode: mode & 0o7777, modifiedAt: mtime };
}

/** An entry as it is sent. */
export const wireEntry = ({ name, kind, sizeBytes, mode, modifiedAt }: FileEntry) => ({
  name,
  kind,
  size_bytes: sizeBytes,
  mode,
  modified_at: Math.max(0, Math.floor(modifiedAt.getTime())),
});

const lineOf = (entry: FileEntry): string => encodeEntry(wireEntry(entry));

function kindOf(found: Stats): FileEntry['kind'] {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'folder';
  return found.isSymbolicLink() ? 'link' : 'other';
}
