import type { Readable } from 'node:stream';
import { FILE_LIMITS, type FileError, type FilePath } from '../../../domain/containers/files.ts';
import { ok, type Result } from '../../../domain/result.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { ContainerFiles, Opened } from '../../../ports/containers/inside/container-files.ts';
import type {
  ContainerPrograms,
  FindRuntimeId,
  Release,
} from '../../../ports/containers/inside/container-programs.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import { readableOf } from '../exec/readable-of.ts';
import { type ScriptRun, startScript } from '../exec/script-process.ts';
import { onlyFilesAndFolders } from './archive-filter.ts';
import { answerOf, outcomeOf, refusal, where } from './file-replies.ts';
import { OPEN, REMOVE } from './file-scripts.ts';
import { fileTime } from './file-times.ts';
import { upload } from './file-upload.ts';
import { listing } from './folder-listing.ts';
import { inTurns } from './in-turns.ts';

/** Files in containers of one engine, through programs that run as the container's user. */
export const shellFiles = (programs: ContainerPrograms, find: FindRuntimeId): ContainerFiles => ({
  async open(handle, path, folderAs, room) {
    const id = await find(handle);
    const run = await startScript(programs, id, { script: OPEN, args: [folderAs, ...where('keep', path)] });
    return await opened(
      run,
      { path, folderAs, room },
      { piece: () => programs.piece(id), transfer: () => programs.transfer(id) },
    );
  },
  async write(handle, path, content, maxBytes, mayReplace = true) {
    const id = await find(handle);
    const release = await programs.transfer(id);
    return await upload(programs, id, path, content, { maxBytes, mayReplace }).finally(release);
  },
  async remove(handle, path) {
    const id = await find(handle);
    const run = await startScript(programs, id, { script: REMOVE, args: where('keep', path) });
    const answer = await outcomeOf(run);
    await run.finish();
    return answer[0] === 'removed' ? ok(null) : refusal(answer, run);
  },
});

type Asked = {
  readonly path: FilePath;
  readonly folderAs: 'archive' | 'listing';
  readonly room: OutputRoom | undefined;
};
type Turns = { readonly piece: () => Promise<Release>; readonly transfer: () => Promise<Release> };

async function opened(
  run: ScriptRun,
  { path, folderAs, room }: Asked,
  turns: Turns,
): Promise<Result<Opened, FileError>> {
  const [kind, ...figures] = await answerOf(run);
  if (kind === 'folder' && folderAs === 'listing') {
    const found = await listing(run.rest(), FILE_LIMITS, room).finally(run.end);
    return ok({ kind: 'listing', ...found });
  }
  if (kind === 'folder') {
    const release = await turns.transfer().catch(async (error: unknown) => {
      await run.end();
      throw error;
    });
    const pieces = inTurns(run.rest(), turns.piece);
    const archive = onlyFilesAndFolders(pieces, path.at(-1) ?? 'workspace', FILE_LIMITS);
    const content = readable(archive, run);
    content.once('close', release);
    return ok({ kind: 'archive', content });
  }
  const [sizeBytes = Number.NaN, modified = Number.NaN] = figures.map(Number);
  if (
    kind === 'file' &&
    Number.isSafeInteger(sizeBytes) &&
    sizeBytes >= 0 &&
    Number.isSafeInteger(modified)
  ) {
    const content = readable(exactly(inTurns(run.rest(), turns.piece), sizeBytes), run);
    return ok({ kind: 'file', sizeBytes, modifiedAt: fileTime(modified), content });
  }
  await run.finish();
  return refusal([kind ?? ''], run);
}

/** The program ends with the stream. */
const readable = (bytes: AsyncGenerator<Buffer>, run: ScriptRun): Readable =>
  readableOf(thenFinish(bytes, run), () => void run.end());

async function* thenFinish(bytes: AsyncGenerator<Buffer>, run: ScriptRun): AsyncGenerator<Buffer> {
  yield* bytes;
  await run.finish();
}

/** A growing file is cut at its first size; a shrinking one is an error, so that nobody keeps half of it. */
export async function* exactly(source: AsyncIterable<Buffer>, sizeBytes: number): AsyncGenerator<Buffer> {
  let left = sizeBytes;
  if (left > 0) {
    for await (const chunk of source) {
      yield chunk.subarray(0, left);
      left -= Math.min(left, chunk.length);
      if (left === 0) break;
    }
  }
  if (left > 0) throw new RuntimeFailure(`a file ended ${left} bytes too early`);
}
