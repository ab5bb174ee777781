import type { FileError, FilePath } from '../../../domain/containers/files.ts';
import { type Result, refuse } from '../../../domain/result.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { ScriptRun } from '../exec/script-process.ts';

const HOME = '/workspace';
/** Time to flush a file to disk, or to remove a large folder. */
export const WORK_SECONDS = 300;

/** A path as the scripts' arguments. */
export const where = (folders: 'make' | 'keep', path: FilePath): readonly string[] => [
  folders,
  HOME,
  ...path.slice(0, -1),
  path.at(-1) ?? '.',
];

/** The first line of the output, in words. */
export const answerOf = async (run: ScriptRun, seconds?: number | null): Promise<readonly string[]> =>
  (await run.line(seconds))?.split(' ') ?? [];

/** As `answerOf`, of a program that changes something. Throws `OutcomeUnknown`. */
export const outcomeOf = async (run: ScriptRun): Promise<readonly string[]> =>
  (await run.outcome(WORK_SECONDS))?.split(' ') ?? [];

const REFUSALS: Readonly<Record<string, FileError['code']>> = {
  absent: 'file_not_found',
  outside: 'file_outside',
  special: 'file_special',
  in_the_way: 'file_in_the_way',
  not_permitted: 'file_not_permitted',
  no_tools: 'file_tools_missing',
};

/** The refusal that the script printed; stderr is matched against the system's messages. */
export function refusal(answer: readonly string[], run: ScriptRun): Result<never, FileError> {
  const complaints = run.complaints();
  const known = REFUSALS[answer[0] ?? ''];
  if (known !== undefined) return refuse({ code: known });
  if (/No space left|quota exceeded/i.test(complaints)) return refuse({ code: 'disk_full' });
  if (/Permission denied|not permitted|Read-only/i.test(complaints)) {
    return refuse({ code: 'file_not_permitted' });
  }
  throw new RuntimeFailure(`a program in the container failed: ${answer.join(' ')} ${complaints}`);
}
