import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Channel, ChannelHandlers, RequestOf } from '../../protocol/agent/index.ts';
import { FileFault, faultCode } from './file-fault.ts';
import { pathOf, type ResolvedPath, resolvePath } from './resolve-path.ts';

const TEMPORARY = '.berth-upload-';
/** Older temporary files were left by a killed agent. */
const LEFT_AFTER_MS = 86_400_000;
const NEW_MODE = 0o644;
/** Without setuid, setgid and sticky. */
const PERMISSIONS = 0o777;

type Target = ResolvedPath & { readonly old: Stats | null };

/**
 * Answers `file_write`: content goes to a temporary file, which replaces the target when it is complete. Until then,
 * and after any failure, the old content stays.
 */
export function writeFile(home: string, request: RequestOf<'file_write'>, channel: Channel): ChannelHandlers {
  const upload = new Upload(request, channel);
  void upload.begin(home, request.path);
  return {
    data: (_stream, bytes) => upload.add(bytes),
    ended: () => upload.finish(),
    reset: () => upload.abandon(),
  };
}

class Upload {
  readonly #maxBytes: number;
  readonly #isOnlyNew: boolean;
  readonly #channel: Channel;
  #bytes = 0;
  #target: Target | null = null;
  #file: FileHandle | null = null;
  #temporary = '';
  #isAbandoned = false;
  /** Each step begins when the one before it is done. */
  #steps: Promise<void> = Promise.resolve();

  constructor({ max_bytes, only_new }: RequestOf<'file_write'>, channel: Channel) {
    this.#maxBytes = max_bytes;
    this.#isOnlyNew = only_new;
    this.#channel = channel;
  }

  begin(home: string, wanted: string): void {
    this.#then(async () => {
      const target = await targetOf(home, wanted);
      if (this.#isOnlyNew && target.old !== null) throw new FileFault('file_in_the_way');
      await clearOld(target.folder);
      this.#temporary = path.join(target.folder, `${TEMPORARY}${process.pid}-${randomUUID()}`);
      this.#file = await open(this.#temporary, 'wx', NEW_MODE);
      this.#target = target;
      this.#channel.accept({ type: 'file_write', only_new: this.#isOnlyNew });
    });
  }

  add(bytes: Uint8Array): void {
    this.#then(async () => {
      this.#bytes += bytes.length;
      if (this.#bytes > this.#maxBytes) throw new FileFault('file_too_large');
      await this.#file?.writeFile(bytes);
      this.#channel.consumed(bytes.length);
    });
  }

  finish(): void {
    this.#then(async () => {
      const [file, target] = [this.#file, this.#target];
      if (file === null || target === null) return;
      if (target.old !== null) await keepOwner(file, target.old);
      await file.sync();
      await file.close();
      this.#file = null;
      await this.#put(pathOf(target));
      this.#channel.finish({ type: 'file_write', size_bytes: this.#bytes, is_new: target.old === null });
    });
  }

  /** Unlike a rename, a link never takes a name that is taken. */
  async #put(target: string): Promise<void> {
    if (this.#isOnlyNew) {
      await link(this.#temporary, target);
      await rm(this.#temporary);
    } else await rename(this.#temporary, target);
    this.#temporary = '';
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#steps = this.#steps.then(() => this.#clear());
  }

  #then(step: () => Promise<void>): void {
    this.#steps = this.#steps
      .then(() => (this.#isAbandoned ? undefined : step()))
      .catch(async (error: unknown) => {
        this.#isAbandoned = true;
        await this.#clear();
        this.#channel.reset(faultCode(error) ?? 'failed', error instanceof Error ? error.message : '');
      });
  }

  async #clear(): Promise<void> {
    await this.#file?.close().catch(() => {});
    this.#file = null;
    if (this.#temporary !== '') await rm(this.#temporary, { force: true }).catch(() => {});
    this.#temporary = '';
  }
}

async function targetOf(home: string, wanted: string): Promise<Target> {
  const resolved = await resolvePath(home, wanted);
  if (resolved.name === '') throw new FileFault('file_in_the_way');
  // Another upload may make the same folders.
  for (const folder of resolved.missing) await mkdir(folder, { mode: 0o755 }).catch(unlessThere);
  if (!(await stat(resolved.folder)).isDirectory()) throw new FileFault('file_in_the_way');
  const old = await lstat(pathOf(resolved)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (old?.isDirectory()) throw new FileFault('file_in_the_way');
  if (old !== null && !old.isFile()) throw new FileFault('file_special');
  return { ...resolved, old };
}

const unlessThere = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error;
};

/** Keeps permissions, and the owner where this user may give a file away. */
async function keepOwner(file: FileHandle, { mode, uid, gid }: Stats): Promise<void> {
  await file.chown(uid, gid).catch(() => {});
  await file.chmod(mode & PERMISSIONS);
}

async function clearOld(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(TEMPORARY))) {
    const file = path.join(folder, name);
    const { mtimeMs = Date.now() } = (await lstat(file).catch(() => null)) ?? {};
    if (Date.now() - mtimeMs > LEFT_AFTER_MS) await rm(file, { force: true }).catch(() => {});
  }
}
