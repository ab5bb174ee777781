import { Readable } from 'node:stream';
import { Header } from 'tar/header';
import { Pax } from 'tar/pax';
import {
  entryJsonBytes,
  FILE_LIMITS,
  type FileEntry,
  type FileError,
  type FilePath,
} from '../../../../domain/containers/files.ts';
import { ok, type Result, refuse } from '../../../../domain/result.ts';
import type { ContainerObserver } from '../../../../ports/containers/container-runtime.ts';
import type { ContainerFiles, Opened } from '../../../../ports/containers/inside/container-files.ts';
import type { FileSearch } from '../../../../ports/containers/inside/file-search.ts';
import type { OutputRoom } from '../../../../ports/output-room.ts';
import type { MemoryRuntime } from '../container-runtime.ts';
import { requireRunning } from './container-commands.ts';
import { memoryFileSearch } from './file-search.ts';
import type { Folder, Node } from './file-tree.ts';

const aFolder = (): Folder => ({ kind: 'folder', inside: new Map(), modifiedAt: new Date() });

type Observed = ContainerObserver & Partial<Pick<MemoryRuntime, 'boxes' | 'volumes'>>;

/** Trees of files and folders, in the container's volume; of a runtime without volumes, as long as the container. */
export function memoryFiles(runtime: Observed): ContainerFiles & { readonly search: FileSearch } {
  const homes = new Map<string, { files?: Folder }>();
  const homeOf = async (handle: Parameters<ContainerFiles['remove']>[0]): Promise<Folder> => {
    await requireRunning(runtime, handle);
    const { runtimeId } = handle;
    const volume = runtime.boxes?.get(runtimeId)?.spec.volume;
    const home = runtime.volumes?.get(volume ?? '') ?? homes.get(runtimeId) ?? {};
    homes.set(runtimeId, home);
    home.files ??= aFolder();
    return home.files;
  };
  return {
    search: memoryFileSearch(async (handle, path) => find(await homeOf(handle), path)),
    async open(handle, path, folderAs, room) {
      const node = find(await homeOf(handle), path);
      if (node === undefined) return refuse({ code: 'file_not_found' });
      if (node.kind === 'folder' && folderAs === 'listing') return ok(await listing(node, room));
      return ok(opened(node, path));
    },
    async write(handle, path, content, maxBytes, mayReplace = true) {
      const folder = makeFolders(await homeOf(handle), path.slice(0, -1));
      const name = path.at(-1) ?? '';
      if (!folder.ok) return folder;
      if (folder.value.inside.get(name)?.kind === 'folder') return refuse({ code: 'file_in_the_way' });
      const { inside } = folder.value;
      const isTaken = (): boolean => !mayReplace && inside.has(name);
      if (isTaken()) return refuse({ code: 'file_in_the_way' });
      const bytes = await readAll(content, maxBytes);
      if (bytes === null) return refuse({ code: 'file_too_large' });
      if (isTaken()) return refuse({ code: 'file_in_the_way' });
      const isNew = !inside.has(name);
      inside.set(name, { kind: 'file', content: bytes, modifiedAt: new Date() });
      return ok({ sizeBytes: bytes.length, isNew });
    },
    async remove(handle, path) {
      const folder = find(await homeOf(handle), path.slice(0, -1));
      const removed = folder?.kind === 'folder' && folder.inside.delete(path.at(-1) ?? '');
      return removed ? ok(null) : refuse({ code: 'file_not_found' });
    },
  };
}

const find = (home: Folder, path: FilePath): Node | undefined =>
  path.reduce<Node | undefined>(
    (node, name) => (node?.kind === 'folder' ? node.inside.get(name) : undefined),
    home,
  );

function makeFolders(home: Folder, path: FilePath): Result<Folder, FileError> {
  let folder = home;
  for (const name of path) {
    const next = folder.inside.get(name) ?? aFolder();
    if (next.kind === 'file') return refuse({ code: 'file_in_the_way' });
    folder.inside.set(name, next);
    folder = next;
  }
  return ok(folder);
}

/** null above the limit; the rest stays in the stream. */
async function readAll(content: Readable, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content.iterator({ destroyOnReturn: false })) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > maxBytes) return null;
  }
  return Buffer.concat(chunks);
}

function opened(node: Node, path: FilePath): Opened {
  if (node.kind === 'file') {
    const { content, modifiedAt } = node;
    return { kind: 'file', sizeBytes: content.length, modifiedAt, content: Readable.from([content]) };
  }
  const blocks = [...archive(node, path.at(-1) ?? 'workspace'), Buffer.alloc(1024)];
  return { kind: 'archive', content: Readable.from(blocks, { objectMode: false }) };
}

async function listing({ inside }: Folder, room: OutputRoom | undefined): Promise<Opened> {
  const entries: FileEntry[] = [];
  let bytes = 0;
  for (const [name, each] of inside) {
    const entry = entryOf(name, each);
    const before = bytes;
    bytes += entryJsonBytes(entry);
    if (entries.length === FILE_LIMITS.listed || bytes > FILE_LIMITS.listedJsonBytes) break;
    if (room !== undefined && before <= room.freeBytes && bytes > room.freeBytes) await room.more();
    entries.push(entry);
  }
  const complete = entries.length === inside.size;
  return { kind: 'listing', entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), complete };
}

const entryOf = (name: string, node: Node): FileEntry => ({
  name,
  kind: node.kind,
  sizeBytes: node.kind === 'file' ? node.content.length : 0,
  mode: node.kind === 'file' ? 0o644 : 0o755,
  modifiedAt: node.modifiedAt,
});

function archive(node: Node, path: string): Buffer[] {
  const size = node.kind === 'file' ? node.content.length : 0;
  const header = new Header({
    path: node.kind === 'folder' ? `${path}/` : path,
    type: node.kind === 'folder' ? 'Directory' : 'File',
    mode: node.kind === 'folder' ? 0o755 : 0o644,
    mtime: node.modifiedAt,
    size,
  });
  const long = header.encode() ? [new Pax({ path: header.path ?? '' }).encode()] : [];
  const head = Buffer.concat([...long, header.block ?? Buffer.alloc(512)]);
  if (node.kind === 'file') return [head, node.content, Buffer.alloc((512 - (size % 512)) % 512)];
  return [head, ...[...node.inside].flatMap(([name, each]) => archive(each, `${path}/${name}`))];
}
