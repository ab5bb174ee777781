import type { FileError, FilePath } from '../../domain/containers/files.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import { RuntimeFailure } from '../../ports/containers/container-runtime.ts';
import type { ContainerFiles, Opened } from '../../ports/containers/inside/container-files.ts';
import type { OutputRoom } from '../../ports/output-room.ts';
import type { AgentHub } from './agent-hub.ts';
import { DownloadStream } from './download-stream.ts';
import { listingOf } from './folder-listing.ts';
import { AgentFault, ANSWER_MS, answerWithin, ask, notDone } from './requests.ts';
import { upload } from './upload.ts';

const FILE_ERRORS: { readonly [C in FileError['code']]: true } = {
  file_not_found: true,
  file_outside: true,
  file_special: true,
  file_in_the_way: true,
  file_too_large: true,
  file_not_permitted: true,
  file_tools_missing: true,
  disk_full: true,
};

/** A large folder takes longer to remove than a request takes to begin. */
const REMOVAL_MS = 300_000;

const isFileError = (code: string): code is FileError['code'] => Object.hasOwn(FILE_ERRORS, code);

/** Files below the home of the user that runs the agent. */
export const agentFiles = (hub: AgentHub, answerMs = ANSWER_MS): ContainerFiles => ({
  open: (handle, path, folderAs, room) =>
    refused(async () => {
      const stream = new DownloadStream();
      const reply = stream.open(hub.peerOf(handle), {
        type: 'file_open',
        path: path.join('/'),
        folder_as: folderAs,
      });
      const begun = await answerWithin(answerMs, reply, () => stream.destroy(), notDone);
      return await opened(stream, begun, room);
    }),

  write: (handle, path, content, maxBytes, mayReplace = true) =>
    refused(async () => {
      const request = { path: pathOf(path), max_bytes: maxBytes, only_new: !mayReplace };
      const written = await upload(hub.peerOf(handle), request, content);
      return { sizeBytes: written.size_bytes, isNew: written.is_new };
    }),

  remove: (handle, path) =>
    refused(async () => {
      await ask(hub.peerOf(handle), { type: 'file_remove', path: pathOf(path) }, REMOVAL_MS);
      return null;
    }),
});

const pathOf = (path: FilePath): string => path.join('/');

async function opened(
  stream: DownloadStream,
  reply: Awaited<ReturnType<DownloadStream['open']>>,
  room: OutputRoom | undefined,
): Promise<Opened> {
  switch (reply.type) {
    case 'file': {
      const modifiedAt = new Date(reply.modified_at);
      return { kind: 'file', sizeBytes: reply.size_bytes, modifiedAt, content: stream };
    }
    case 'archive':
      return { kind: 'archive', content: stream };
    case 'listing':
      return { kind: 'listing', ...(await listingOf(stream, room)) };
    default:
      stream.destroy();
      throw new RuntimeFailure(`an agent answered a file by ${reply.type}`);
  }
}

/** Turns the agent's file errors into refusals. */
async function refused<T>(work: () => Promise<T>): Promise<Result<T, FileError>> {
  try {
    return ok(await work());
  } catch (error) {
    if (error instanceof AgentFault && isFileError(error.code)) return refuse({ code: error.code });
    throw error;
  }
}
