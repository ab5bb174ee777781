import { parseFilePath, SEARCH_LIMITS } from '../../../domain/containers/files.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { ok, type Result } from '../../../domain/result.ts';
import type { FileChanges, FileProgram } from '../../../ports/containers/inside/file-search.ts';
import type { AsyncResult } from '../../async-result.ts';
import { refuseIfStopped } from '../inside/running-container.ts';
import { findSearchable, type SearchDeps } from './search-files.ts';

export type WatchRequest = { readonly path: string; readonly isRecursive: boolean };

/** A watch that may begin: checked before the upgrade, begun after it. */
export type AllowedWatch = { readonly begin: () => AsyncResult<FileProgram<FileChanges>> };

/** Checks a watch of a folder in the caller's running container. It is a use of the container while it lasts. */
export const watchFiles =
  (deps: SearchDeps) =>
  async (
    id: string,
    { path: pathGiven, isRecursive }: WatchRequest,
    caller: Caller,
  ): AsyncResult<AllowedWatch> => {
    const found = await findSearchable(deps, id, caller);
    if (!found.ok) return found;
    const path = parseFilePath(pathGiven);
    if (!path.ok) return path;
    const { container, handle } = found.value;
    const options = { isRecursive, maxEntries: SEARCH_LIMITS.watched };
    const start = () => refuseIfStopped(deps.fileSearch.watch(handle, path.value, options));
    return ok({ begin: async () => whileUsed(await deps.uses.begin(container, 'file'), start) });
  };

type Started = Result<FileProgram<FileChanges>, DomainError>;

/** Starts the program. Calls `over` when it ends, or did not start. */
async function whileUsed(over: () => void, start: () => Promise<Started>): Promise<Started> {
  try {
    const started = await start();
    if (!started.ok) over();
    return started.ok ? ok({ ...started.value, end: () => started.value.end().finally(over) }) : started;
  } catch (error) {
    over();
    throw error;
  }
}
