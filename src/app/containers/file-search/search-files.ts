import { isAgent } from '../../../domain/containers/agents/agent.ts';
import {
  type FilePath,
  parseFilePath,
  pathText,
  SEARCH_LIMITS,
  type SearchQuery,
  searchFaults,
} from '../../../domain/containers/files.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { jsonBytes } from '../../../domain/json-size.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { FileMatch, FileProgram, FileSearch } from '../../../ports/containers/inside/file-search.ts';
import type { AsyncResult } from '../../async-result.ts';
import {
  type AccessDeps,
  type ContainerWithHandle,
  findRunning,
  refuseIfStopped,
} from '../inside/running-container.ts';

export type SearchDeps = AccessDeps & { readonly fileSearch: FileSearch };

export type SearchRequest = SearchQuery & { readonly path: string; readonly maxMatches: number };

/** `isComplete` is false when a limit of time, number or size cut the search. */
export type FoundMatches = { readonly matches: readonly FileMatch[]; readonly isComplete: boolean };

/** The caller's running container; agents cannot be searched. */
export async function findSearchable(
  deps: AccessDeps,
  id: string,
  caller: Caller,
): AsyncResult<ContainerWithHandle> {
  const found = await findRunning(deps, id, caller, 'read');
  return found.ok && isAgent(found.value.container) ? refuse({ code: 'not_for_agents' }) : found;
}

/** Besides the text: names, quotes and numbers. */
const MATCH_JSON_BYTES = 64;

/** The lines with a pattern in files of the caller's running container: at most 20 s, 10,000 matches and 1 MiB. */
export const searchFiles =
  (deps: SearchDeps) =>
  async (
    id: string,
    { path: pathGiven, maxMatches, ...query }: SearchRequest,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<FoundMatches> => {
    const found = await findSearchable(deps, id, caller);
    if (!found.ok) return found;
    const path = parseFilePath(pathGiven);
    if (!path.ok) return path;
    const fields = searchFaults(query);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const { container, handle } = found.value;
    const what = { path: pathText(path.value) };
    await deps.acts.record({ action: 'files_searched', caller, origin, dbId: container.dbId, what });
    const used = await deps.uses.begin(container, 'file');
    try {
      return await refuseIfStopped(searched(deps.fileSearch.search(handle, path.value, query), maxMatches));
    } finally {
      used();
    }
  };

async function searched(
  starting: ReturnType<FileSearch['search']>,
  maxMatches: number,
): AsyncResult<FoundMatches> {
  const started = await starting;
  if (started.ok) return ok(await collect(started.value, maxMatches));
  const { error } = started;
  if (error.code !== 'pattern_invalid') return refuse(error);
  return refuse({ code: 'validation_failed', fields: { pattern: 'is not a valid regular expression' } });
}

/** Reads until a limit, and ends the program. */
async function collect(
  program: FileProgram<FileMatch | 'complete'>,
  maxMatches: number,
): Promise<FoundMatches> {
  const matches: FileMatch[] = [];
  let bytes = 0;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void program.end();
  }, SEARCH_LIMITS.seconds * 1_000);
  try {
    for await (const match of program.items) {
      if (match === 'complete') return { matches, isComplete: true };
      bytes += jsonSizeOf(match.path, match.text);
      if (matches.length === maxMatches || bytes > SEARCH_LIMITS.jsonBytes)
        return { matches, isComplete: false };
      matches.push(match);
    }
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    clearTimeout(timer);
    await program.end();
  }
  return { matches, isComplete: false };
}

const jsonSizeOf = (path: FilePath, text: string): number =>
  MATCH_JSON_BYTES + jsonBytes(text) + jsonBytes(pathText(path));
