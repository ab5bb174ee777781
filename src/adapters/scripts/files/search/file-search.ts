import { smallPattern } from '../../../../domain/containers/files.ts';
import { ok, refuse } from '../../../../domain/result.ts';
import type {
  ContainerPrograms,
  FindRuntimeId,
} from '../../../../ports/containers/inside/container-programs.ts';
import type { FileProgram, FileSearch } from '../../../../ports/containers/inside/file-search.ts';
import { type ScriptRun, startScript } from '../../exec/script-process.ts';
import { answerOf, refusal, where } from '../file-replies.ts';
import { changesOf, matchesOf } from './search-records.ts';
import { SEARCH, WATCH } from './search-scripts.ts';

/** Searches in containers of one engine, through programs that run as the container's user. */
export const shellFileSearch = (programs: ContainerPrograms, find: FindRuntimeId): FileSearch => ({
  async search(handle, path, query) {
    const id = await find(handle);
    const how = query.isRegex ? 'regex' : 'fixed';
    const letters = query.ignoresCase
      ? (['small', smallPattern(query)] as const)
      : (['exact', query.pattern] as const);
    const args = [how, ...letters, query.include, ...where('keep', path)];
    const run = await startScript(programs, id, { script: SEARCH, args });
    const answer = await answerOf(run);
    if (answer[0] === 'pattern_invalid') return refuse({ code: 'pattern_invalid' });
    if (answer[0] !== 'matches') return refusal(answer, run);
    const base = answer[1] === 'folder' ? path : path.slice(0, -1);
    return ok(program(run, (output) => matchesOf(output, base)));
  },

  async watch(handle, path, { isRecursive, maxEntries }) {
    const id = await find(handle);
    const args = [isRecursive ? 'recursive' : 'flat', String(maxEntries), ...where('keep', path)];
    const run = await startScript(programs, id, { script: WATCH, args });
    const answer = await answerOf(run);
    if (answer[0] !== 'watching') return refusal(answer, run);
    return ok(program(run, (output) => changesOf(output, path)));
  },
});

const program = <T>(
  run: ScriptRun,
  read: (output: AsyncIterable<Buffer>) => AsyncIterable<T>,
): FileProgram<T> => ({ items: read(run.rest()), end: run.end });
