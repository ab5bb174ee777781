import { get, withQuery } from '../api/calls.ts';
import { BerthError, unreachable } from '../api/errors.ts';
import { authorizedBy } from '../session/session.ts';

const filesOf = (containerId: string, path: string): string =>
  withQuery(`/api/containers/${encodeURIComponent(containerId)}/files`, { path });

/** The names in /workspace. */
export async function namesInWorkspace(containerId: string): Promise<ReadonlySet<string>> {
  const folder = await get<{ entries: readonly { name: string }[] }>(filesOf(containerId, '/workspace'));
  return new Set(folder.entries.map(({ name }) => name));
}

type UploadOptions = {
  /** Gets the share that is sent, from 0 to 1. */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
};

type Refusal = { readonly code?: string; readonly error?: string } | null;

/**
 * Sends a file to that path, where there must be none. Rejects with a {@link BerthError}, or with the signal's reason.
 */
export const uploadFile = (
  containerId: string,
  path: string,
  file: Blob,
  options: UploadOptions,
): Promise<void> =>
  authorizedBy((token) => send(`${filesOf(containerId, path)}&replace=false`, token, file, options));

const send = (url: string, token: string, file: Blob, { onProgress, signal }: UploadOptions): Promise<void> =>
  new Promise<void>((resolve, reject) => {
    // why: fetch does not say how much of a body is sent
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const { status } = request;
      const refusal = request.response as Refusal;
      if (status < 300) resolve();
      else reject(new BerthError(status, refusal?.code ?? 'unknown', refusal?.error ?? 'upload failed'));
    };
    signal.addEventListener('abort', () => request.abort(), { once: true });
    signal.throwIfAborted();
    request.send(file);
  });
