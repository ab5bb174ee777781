import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import type { Channel, RequestOf } from '../../protocol/agent/index.ts';
import type { ChannelWriter } from '../channel-writer.ts';
import { archiveOf } from './archive.ts';
import { FileFault } from './file-fault.ts';
import { listFolder } from './list-folder.ts';
import { pathOf, type ResolvedPath, resolvePath } from './resolve-path.ts';

const READ_BYTES = 65_536;
/** What the top folder of an archive of the home is called, as in containers. */
const HOME_NAME = 'workspace';

/** Answers `file_open`: a file's content, or a folder's listing or archive. Throws `FileFault` and system errors. */
export async function openFile(
  home: string,
  request: RequestOf<'file_open'>,
  channel: Channel,
  writer: ChannelWriter,
): Promise<void> {
  const resolved = await resolvePath(home, request.path);
  const found = await lstat(pathOf(resolved));
  if (found.isFile()) await sendFile(resolved, channel, writer);
  else if (!found.isDirectory()) throw new FileFault('file_special');
  else if (request.folder_as === 'listing') await sendListing(resolved, channel, writer);
  else await sendArchive(resolved, channel, writer);
}

async function sendFile(resolved: ResolvedPath, channel: Channel, writer: ChannelWriter): Promise<void> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  // what was a file may have become a link or a pipe since
  const file = await open(pathOf(resolved), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size, mtimeMs } = await regular(file);
    channel.accept({ type: 'file', size_bytes: size, modified_at: Math.max(0, Math.floor(mtimeMs)) });
    for (let at = 0; at < size; ) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new Error(`the file ended ${size - at} bytes too early`);
      if (!(await writer.write(buffer.subarray(0, bytesRead)))) return;
      at += bytesRead;
    }
    channel.finish({ type: 'file_open', complete: true });
  } finally {
    await file.close();
  }
}

async function regular(file: FileHandle) {
  const found = await file.stat();
  if (!found.isFile()) throw new FileFault('file_special');
  return found;
}

async function sendListing(resolved: ResolvedPath, channel: Channel, writer: ChannelWriter): Promise<void> {
  const { lines, complete } = await listFolder(pathOf(resolved));
  channel.accept({ type: 'listing' });
  if (lines.length > 0) await writer.write(Buffer.from(lines.join('')));
  channel.finish({ type: 'file_open', complete });
}

async function sendArchive(resolved: ResolvedPath, channel: Channel, writer: ChannelWriter): Promise<void> {
  const archive = archiveOf(pathOf(resolved), resolved.name || HOME_NAME);
  channel.accept({ type: 'archive' });
  for await (const chunk of archive) if (!(await writer.write(chunk))) return;
  channel.finish({ type: 'file_open', complete: true });
}
