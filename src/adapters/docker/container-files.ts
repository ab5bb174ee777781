import type { Readable } from 'node:stream';
import { FILE_LIMITS, type FileError, type FilePath } from '../../domain/files.ts';
import { ok, type Result } from '../../domain/result.ts';
import type { ContainerFiles, Opened } from '../../ports/container-files.ts';
import { RuntimeFailure } from '../../ports/container-runtime.ts';
import { onlyFilesAndFolders } from './archive-filter.ts';
import type { EngineCalls } from './client.ts';
import { answerOf, refusal, WORK_SECONDS, where } from './file-answers.ts';
import { OPEN, REMOVE } from './file-scripts.ts';
import { fileTime } from './file-times.ts';
import { listing } from './listing.ts';
import type { Ownership } from './ownership.ts';
import { readableOf } from './readable.ts';
import { type ScriptRun, startScript } from './script-run.ts';
import { upload } from './upload.ts';

/** Files in containers of one Docker engine, by programs that run as the container's user. */
export function dockerFiles(calls: EngineCalls, own: Ownership): ContainerFiles {
  return {
    async open(handle, path, folderAs) {
      const { id } = await own.require(handle);
      const run = await startScript(calls, id, { script: OPEN, args: [folderAs, ...where('keep', path)] });
      return await opened(run, path, folderAs);
    },
    async write(handle, path, content, maxBytes) {
      const { id } = await own.require(handle);
      return await upload(calls, id, path, content, maxBytes);
    },
    async remove(handle, path) {
      const { id } = await own.require(handle);
      const run = await startScript(calls, id, { script: REMOVE, args: where('keep', path) });
      const answer = await answerOf(run, WORK_SECONDS);
      await run.finish();
      return answer[0] === 'removed' ? ok(null) : refusal(answer, run);
    },
  };
}

async function opened(
  run: ScriptRun,
  path: FilePath,
  folderAs: 'archive' | 'listing',
): Promise<Result<Opened, FileError>> {
  const [kind, ...figures] = await answerOf(run);
  if (kind === 'folder' && folderAs === 'listing') {
    const found = await listing(run.rest(), FILE_LIMITS.listed).finally(run.end);
    return ok({ kind: 'listing', ...found });
  }
  if (kind === 'folder') {
    const archive = onlyFilesAndFolders(run.rest(), path.at(-1) ?? 'workspace', FILE_LIMITS);
    return ok({ kind: 'archive', content: readable(archive, run) });
  }
  const [sizeBytes = Number.NaN, modified = Number.NaN] = figures.map(Number);
  if (
    kind === 'file' &&
    Number.isSafeInteger(sizeBytes) &&
    sizeBytes >= 0 &&
    Number.isSafeInteger(modified)
  ) {
    const content = readable(exactly(run.rest(), sizeBytes), run);
    return ok({ kind: 'file', sizeBytes, modifiedAt: fileTime(modified), content });
  }
  await run.finish();
  return refusal([kind ?? ''], run);
}

/** Its end, whoever causes it, is the end of the program as well. */
const readable = (bytes: AsyncGenerator<Buffer>, run: ScriptRun): Readable =>
  readableOf(thenFinish(bytes, run), () => void run.end());

async function* thenFinish(bytes: AsyncGenerator<Buffer>, run: ScriptRun): AsyncGenerator<Buffer> {
  yield* bytes;
  await run.finish();
}

/** A file that grows is cut where it ended at first; one that shrinks is a fault, so that nobody keeps half of it. */
async function* exactly(source: AsyncIterable<Buffer>, sizeBytes: number): AsyncGenerator<Buffer> {
  let left = sizeBytes;
  if (left > 0) {
    for await (const chunk of source) {
      yield chunk.subarray(0, left);
      left -= Math.min(left, chunk.length);
      if (left === 0) break;
    }
  }
  if (left > 0) throw new RuntimeFailure(`a file ended ${left} bytes too early`, null);
}
