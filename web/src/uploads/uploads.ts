import { signal } from '@preact/signals';
import { toastFailure } from '../state/toasts.ts';
import { atFreeName, type Named, withFreeNames } from './free-names.ts';
import { namesInWorkspace, uploadFile } from './send-file.ts';

type Upload = {
  readonly id: number;
  readonly containerId: string;
  readonly name: string;
  /** How much of it is sent, from 0 to 1. */
  readonly share: number;
  cancel(): void;
};

/** Those under way. */
export const uploads = signal<readonly Upload[]>([]);

let lastId = 0;

async function upload(containerId: string, named: Named<File>): Promise<string | null> {
  const { file, name } = named;
  lastId += 1;
  const id = lastId;
  const aborting = new AbortController();
  const cancel = (): void => aborting.abort();
  uploads.value = [...uploads.value, { id, containerId, name, share: 0, cancel }];
  const onProgress = (share: number): void => {
    uploads.value = uploads.value.map((one) => (one.id === id ? { ...one, share } : one));
  };
  try {
    return await atFreeName(named, (path) =>
      uploadFile(containerId, path, file, { onProgress, signal: aborting.signal }),
    );
  } catch (failure) {
    if (!aborting.signal.aborted) toastFailure(failure, `${name} was not uploaded`);
    return null;
  } finally {
    uploads.value = uploads.value.filter((one) => one.id !== id);
  }
}

/** Uploads the files to /workspace, one after the other, and replaces none. Answers the paths of those that arrived. */
export async function uploadAll(containerId: string, files: readonly File[]): Promise<readonly string[]> {
  const paths: string[] = [];
  const namesThere = () => namesInWorkspace(containerId);
  try {
    await withFreeNames(containerId, files, namesThere, async (named) => {
      for (const each of named) {
        const path = await upload(containerId, each);
        if (path !== null) paths.push(path);
      }
    });
  } catch (failure) {
    toastFailure(failure, 'Nothing was uploaded');
  }
  return paths;
}
