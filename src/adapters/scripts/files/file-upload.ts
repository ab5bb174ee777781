import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FileError, FilePath } from '../../../domain/containers/files.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { OutcomeUnknown, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { Written } from '../../../ports/containers/inside/container-files.ts';
import type { ContainerPrograms, Release } from '../../../ports/containers/inside/container-programs.ts';
import { type ScriptRun, startScript } from '../exec/script-process.ts';
import { answerOf, outcomeOf, refusal, WORK_SECONDS, where } from './file-replies.ts';
import { COMMIT, DISCARD, RECEIVE } from './file-scripts.ts';

/**
 * Receives into a temporary file beside the target and renames it when it is complete on disk. Inside the container an
 * interrupted upload looks complete, so a separate program renames.
 */
export async function upload(
  programs: ContainerPrograms,
  id: string,
  path: FilePath,
  content: Readable,
  { maxBytes, mayReplace }: { readonly maxBytes: number; readonly mayReplace: boolean },
): Promise<Result<Written, FileError>> {
  const temporary = `.berth-upload-${randomUUID()}`;
  const start = (script: string, args: readonly string[], stdin = false): Promise<ScriptRun> =>
    startScript(programs, id, { script, args, stdin });
  const replaces = mayReplace ? 'replace' : 'new';
  const receiving = await start(RECEIVE, [temporary, replaces, ...where('make', path)], true).catch(
    unchanged,
  );
  const first = await answerOf(receiving);
  if (first[0] !== 'ready') {
    await receiving.finish();
    return refusal(first, receiving);
  }
  let isDone = false;
  try {
    const received = await receive(receiving, content, maxBytes, () => programs.piece(id));
    if (!received.ok) return received;
    const sizeBytes = received.value;
    const commit = await start(COMMIT, [temporary, String(sizeBytes), replaces, ...where('keep', path)]);
    const answer = await outcomeOf(commit);
    await commit.finish();
    isDone = answer[0] === 'new' || answer[0] === 'replaced';
    return isDone ? ok({ sizeBytes, isNew: answer[0] === 'new' }) : refusal(answer, commit);
  } finally {
    if (!isDone) {
      await receiving.end();
      await start(DISCARD, [temporary, ...where('keep', path)])
        .then((discard) => discard.finish())
        .catch(() => {});
    }
  }
}

/** Whether this program started makes no difference to the target. */
function unchanged(error: unknown): never {
  if (!(error instanceof OutcomeUnknown)) throw error;
  throw new RuntimeUnavailable('an upload could not begin', { cause: error });
}

/** Returns the number of bytes received, all on disk. */
async function receive(
  run: ScriptRun,
  content: Readable,
  maxBytes: number,
  turn: () => Promise<Release>,
): Promise<Result<number, FileError>> {
  const answering = answerOf(run, null);
  const feeding = run.feed(content, maxBytes, turn);
  // The rejection of the slower one is ignored.
  feeding.catch(() => {});
  answering.catch(() => {});
  const fed = await Promise.race([feeding, answering.then(() => 'ended' as const)]);
  if (fed === 'too_large') return refuse({ code: 'file_too_large' });
  const limit = AbortSignal.timeout(WORK_SECONDS * 1000);
  limit.addEventListener('abort', () => void run.end());
  const answer = await answering;
  await run.finish();
  if (fed === 'ended' || answer[0] !== 'received' || Number(answer[1]) !== fed) return refusal(answer, run);
  return ok(fed);
}
