import type { Schemas } from '../request/api.ts';
import { BerthError } from '../request/errors.ts';
import type { Requester, RequestOptions } from '../request/requester.ts';
import type { OpenSocket } from '../socket/socket.ts';
import { type FileEvent, type WatchOptions, watchFiles } from './watch-files.ts';

type Call = { readonly signal?: AbortSignal };
type Content = NonNullable<RequestOptions['content']>;

export type FolderEntry = Schemas['Folder']['entries'][number];

/** A file's bytes, or a folder with all below it as a tar stream. */
export type OpenedFile = {
  readonly kind: 'file' | 'folder';
  readonly content: ReadableStream<Uint8Array>;
};

export type SearchOptions = Call & {
  /** A folder or file; `/workspace` by default. */
  readonly path?: string;
  /** Whether the pattern is an extended regular expression (POSIX). */
  readonly regex?: boolean;
  /** Whether ASCII letters match in either case. */
  readonly ignoreCase?: boolean;
  /** A pattern of file names, such as `*.ts`. */
  readonly include?: string;
  /** 1,000 by default, at most 10,000. */
  readonly max?: number;
};

/** The files of a container. Paths are relative to `/workspace`, or absolute inside it. */
export class Files {
  readonly #requester: Requester;
  readonly #url: string;
  readonly #openSocket: () => Promise<OpenSocket>;

  constructor(requester: Requester, containerPath: string, openSocket: () => Promise<OpenSocket>) {
    this.#requester = requester;
    this.#openSocket = openSocket;
    this.#url = `${containerPath}/files`;
  }

  /** A file as text, or by `format` as bytes, or as a stream for large ones. */
  read(path: string, options?: Call & { readonly format?: 'text' }): Promise<string>;
  read(path: string, options: Call & { readonly format: 'bytes' }): Promise<Uint8Array>;
  read(path: string, options: Call & { readonly format: 'stream' }): Promise<ReadableStream<Uint8Array>>;
  async read(
    path: string,
    { format = 'text', signal }: Call & { readonly format?: 'text' | 'bytes' | 'stream' } = {},
  ): Promise<string | Uint8Array | ReadableStream<Uint8Array>> {
    const { response, isFolder } = await this.#open(path, signal);
    if (isFolder) throw await refused(response, 'is_a_folder', `${path} is a folder`);
    if (format === 'stream') return bodyOf(response);
    return format === 'bytes' ? new Uint8Array(await response.arrayBuffer()) : await response.text();
  }

  /** A file or a folder, whichever the path names. */
  async open(path: string, { signal }: Call = {}): Promise<OpenedFile> {
    const { response, isFolder } = await this.#open(path, signal);
    return { kind: isFolder ? 'folder' : 'file', content: bodyOf(response) };
  }

  /** What a path names, without its content; null for nothing. */
  async kindOf(path: string, { signal }: Call = {}): Promise<'file' | 'folder' | null> {
    try {
      const response = await this.#requester.send(this.#at(path), { signal: signal ?? null });
      await response.body?.cancel();
      return response.headers.get('content-type')?.startsWith('application/json') ? 'folder' : 'file';
    } catch (failure) {
      if (failure instanceof BerthError && failure.code === 'file_not_found') return null;
      throw failure;
    }
  }

  /** A folder with all below it, as a tar stream. */
  async archive(path = '', { signal }: Call = {}): Promise<ReadableStream<Uint8Array>> {
    const { response, isFolder } = await this.#open(path, signal);
    if (!isFolder) throw await refused(response, 'not_a_folder', `${path} is not a folder`);
    return bodyOf(response);
  }

  /** What a folder contains: at most 10,000 entries, else `complete` is false. */
  async list(path = '', { signal }: Call = {}): Promise<Schemas['Folder']> {
    return await this.#requester.json<Schemas['Folder']>(this.#at(path), { signal: signal ?? null });
  }

  /**
   * Creates or replaces a file, with missing folders above it; the old one stays until the new one is complete. With
   * `replace: false` a file that is there is `file_in_the_way`. Browsers send streams over HTTP/2 only.
   */
  async write(
    path: string,
    content: Content,
    { signal, replace = true }: Call & { readonly replace?: boolean } = {},
  ): Promise<Schemas['FileWritten']> {
    const url = replace ? this.#at(path) : `${this.#at(path)}&replace=false`;
    return await this.#requester.json<Schemas['FileWritten']>(url, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      content,
      signal: signal ?? null,
      timeoutMs: null,
    });
  }

  /** Removes a file, or a folder with all below it. */
  async remove(path: string, { signal }: Call = {}): Promise<void> {
    await this.#requester.json(this.#at(path), { method: 'DELETE', signal: signal ?? null });
  }

  /** The lines with a pattern in text files: at most 20 s and 1 MiB, else `complete` is false. */
  async search(
    pattern: string,
    { signal, ignoreCase, ...options }: SearchOptions = {},
  ): Promise<Schemas['FileMatches']> {
    return await this.#requester.json<Schemas['FileMatches']>(`${this.#url}/search`, {
      method: 'POST',
      body: { pattern, ...options, ...(ignoreCase !== undefined && { ignore_case: ignoreCase }) },
      signal: signal ?? null,
    });
  }

  /** The changes of a folder from now on, for one `for await`; see {@link watchFiles}. */
  async watch(
    path = '',
    { recursive = false, signal }: WatchOptions = {},
  ): Promise<AsyncIterableIterator<FileEvent, void, undefined>> {
    const query = new URLSearchParams({ path, recursive: String(recursive) });
    const open = await this.#openSocket();
    return await watchFiles(this.#requester, open, `${this.#url}/watch?${query}`, {
      ...(signal && { signal }),
    });
  }

  #at(path: string): string {
    return `${this.#url}?${new URLSearchParams({ path })}`;
  }

  async #open(path: string, signal: AbortSignal | undefined) {
    const options = { headers: { accept: '*/*' }, signal: signal ?? null, timeoutMs: null };
    const response = await this.#requester.send(this.#at(path), options);
    return { response, isFolder: response.headers.get('content-type') === 'application/x-tar' };
  }
}

const bodyOf = (response: Response): ReadableStream<Uint8Array> => response.body ?? new ReadableStream();

async function refused(response: Response, code: string, message: string): Promise<BerthError> {
  await response.body?.cancel();
  return new BerthError(0, code, message);
}
