import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { chmod, link, mkdir, realpath, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ReadEntry } from 'tar/read-entry';
import { Unpack } from 'tar/unpack';
import type { Container } from '../../client/index.ts';
import { CliError, usageError } from '../cli-error.ts';
import { printable } from '../io/io.ts';
import { writeTo } from '../io/streams.ts';
import { type Copied, type CopyOptions, counted } from './copied.ts';
import { lastName } from './copy-end.ts';

type Content = ReadableStream<Uint8Array>;

/** Copies a file, or a folder with all below it, out of a container. An existing local folder gets it inside. */
export async function download(
  container: Container,
  source: string,
  target: string,
  copied: Copied,
  options: CopyOptions,
): Promise<void> {
  const { kind, content } = await container.files.open(source);
  const isInside = /(^|[/\\])\.?$/.test(target) || (await statOf(target))?.isDirectory() === true;
  const into = isInside ? path.join(target, lastName(source)) : target;
  if (kind === 'folder') return await unpack(content, into, copied, options);
  await save(content, into, await isExecutable(container, source), copied, options);
  copied.files += 1;
}

/** Copies a file of a container to standard output. */
export async function downloadStream(
  container: Container,
  source: string,
  out: NodeJS.WriteStream,
): Promise<void> {
  const { kind, content } = await container.files.open(source);
  if (kind === 'folder') {
    await content.cancel();
    throw usageError(`${source === '' ? 'The workspace' : source} is a folder: name a local folder for it.`);
  }
  for await (const part of content) await writeTo(out, part);
}

const statOf = (target: string) => stat(target).catch(() => null);

/** The download of a file does not say it; the folder's listing does. */
async function isExecutable({ files }: Container, source: string): Promise<boolean> {
  const { entries } = await files.list(
    path.posix.dirname(`/workspace/${source.replace(/^\/workspace/, '')}`),
  );
  const mode = entries.find(({ name }) => name === lastName(source))?.mode ?? '0';
  return (Number.parseInt(mode, 8) & 0o111) !== 0;
}

/** The old file stays until the new one is whole, and so does a link to it. Devices and pipes are written to. */
async function save(
  content: Content,
  target: string,
  executable: boolean,
  copied: Copied,
  { replace }: CopyOptions,
): Promise<void> {
  const found = await statOf(target);
  if (found !== null && !replace) {
    await content.cancel();
    throw isThere(target);
  }
  if (found !== null && !found.isFile())
    return await pipeline(counted(content, copied), createWriteStream(target));
  await mkdir(path.dirname(target), { recursive: true });
  const file = found === null ? target : await realpath(target);
  const draft = path.join(path.dirname(file), `.berth-download-${randomUUID()}`);
  const discard = (): void => rmSync(draft, { force: true });
  process.once('exit', discard);
  try {
    await pipeline(counted(content, copied), createWriteStream(draft, { flags: 'wx' }));
    if (found !== null) await chmod(draft, found.mode & 0o777);
    if (executable)
      await chmod(draft, (found === null ? 0o777 & ~process.umask() : found.mode | 0o111) & 0o777);
    if (replace) await rename(draft, file);
    // why: a link never takes a name that is taken
    else await link(draft, target);
  } finally {
    discard();
    process.off('exit', discard);
  }
}

/**
 * Unpacks a folder's tar, without its first folder. Only files and folders below the target are written: every other
 * entry is refused, and the copy fails after the rest is there.
 */
async function unpack(
  content: Content,
  target: string,
  copied: Copied,
  { replace }: CopyOptions,
): Promise<void> {
  await mkdir(target, { recursive: true });
  const refused: string[] = [];
  const kept: string[] = [];
  const unpacking = new Unpack({
    cwd: target,
    preserveOwner: false,
    filter(name, entry) {
      if (!(entry instanceof ReadEntry) || !isSafe(name, entry)) {
        refused.push(name);
        return false;
      }
      if (!replace && isTaken(target, name, entry)) {
        kept.push(name);
        return false;
      }
      // why: the package takes `a:b` for a drive
      entry.path = `./${name.split('/').slice(1).join('/')}`;
      if (entry.mode !== undefined) entry.mode &= 0o777;
      if (entry.type !== 'Directory') copied.files += 1;
      copied.bytes += entry.size;
      return true;
    },
    onwarn: (code, message) => void (code !== 'TAR_ENTRY_INFO' && refused.push(String(message))),
  });
  const closed = once(unpacking, 'close');
  await Promise.race([closed, feed(content, unpacking)]);
  await closed;
  if (refused.length > 0)
    throw new CliError(`Not copied, since unsafe or broken: ${printable(refused.join(', '))}`);
  if (kept.length > 0) throw isThere(printable(kept.join(', ')));
}

const isThere = (name: string): CliError =>
  new CliError(`Not replaced: ${name}`, {
    code: 'file_in_the_way',
    next: 'To replace it: leave out --no-replace',
  });

const isTaken = (target: string, name: string, { type }: ReadEntry): boolean =>
  type !== 'Directory' && existsSync(path.join(target, ...name.split('/').slice(1)));

/** The package reads names from a Buffer only. */
async function feed(content: Content, unpacking: Unpack): Promise<void> {
  for await (const part of content) {
    if (!unpacking.write(Buffer.from(part.buffer, part.byteOffset, part.byteLength)))
      await once(unpacking, 'drain');
  }
  unpacking.end();
}

const isSafe = (name: string, { type }: ReadEntry): boolean =>
  ['Directory', 'File', 'OldFile'].includes(type) &&
  !path.isAbsolute(name) &&
  !name.split(/[/\\]/).includes('..');
