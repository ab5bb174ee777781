import type { Readable } from 'node:stream';
import { isAgent } from '../../../domain/containers/agents/agent.ts';
import {
  type FilePath,
  parseFilePath,
  parseTarget,
  pathText as pathOf,
} from '../../../domain/containers/files.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok } from '../../../domain/result.ts';
import type { Opened, Written } from '../../../ports/containers/inside/container-files.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import type { AsyncResult } from '../../async-result.ts';
import {
  type AccessDeps,
  type ContainerWithHandle,
  findRunning,
  refuseIfStopped,
  refuseIfUnknown,
} from './running-container.ts';

const MIB = 1024 * 1024;

/**
 * Opens a file, or a folder as tar or as a list whose buffering `room` limits. Checks the path before the container.
 */
export const openFile =
  (deps: AccessDeps) =>
  async (
    id: string,
    pathText: string,
    folderAs: 'archive' | 'listing',
    caller: Caller,
    origin: RequestOrigin,
    room?: OutputRoom,
  ): AsyncResult<{ readonly path: FilePath; readonly opened: Opened }> => {
    const found = await findRunning(deps, id, caller, 'read');
    if (!found.ok) return found;
    const path = parseFilePath(pathText);
    if (!path.ok) return path;
    const used = await deps.uses.begin(found.value.container, 'file');
    const opening = deps.files.open(found.value.handle, path.value, folderAs, room);
    const opened = await refuseIfStopped(opening).catch((error: unknown) => {
      used();
      throw error;
    });
    if (!opened.ok || opened.value.kind === 'listing') used();
    if (!opened.ok) return opened;
    if (opened.value.kind !== 'listing') {
      const { content } = opened.value;
      content.once('close', used);
      await noted(deps, 'file_downloaded', found.value, path.value, caller, origin).catch(
        (error: unknown) => {
          content.destroy();
          throw error;
        },
      );
    }
    return ok({ path: path.value, opened: opened.value });
  };

/**
 * Writes a file completely or not at all; one that is there only if `mayReplace`. The container's disk limits its size,
 * or the agent's own.
 */
export const writeFile =
  (deps: AccessDeps) =>
  async (
    id: string,
    pathText: string,
    content: Readable,
    caller: Caller,
    origin: RequestOrigin,
    mayReplace = true,
  ): AsyncResult<Written & { readonly path: FilePath }> => {
    const found = await findRunning(deps, id, caller, 'change');
    if (!found.ok) return found;
    const path = parseTarget(pathText);
    if (!path.ok) return path;
    const { container, handle } = found.value;
    const maxBytes = isAgent(container) ? Number.MAX_SAFE_INTEGER : container.resources.diskMb * MIB;
    // A killed process could not record it afterwards. Further acts of the minute share one later record.
    await noted(deps, 'file_uploaded', found.value, path.value, caller, origin);
    const used = await deps.uses.begin(container, 'file');
    const writing = refuseIfStopped(deps.files.write(handle, path.value, content, maxBytes, mayReplace));
    const written = await refuseIfUnknown('file_outcome_unknown', writing).finally(used);
    if (!written.ok) return written;
    await deps.storage.repositories.containers.touch(container.dbId);
    return ok({ ...written.value, path: path.value });
  };

/** Removes a file, or a folder with its contents. Open to expired guests. */
export const removeFile =
  (deps: AccessDeps) =>
  async (id: string, pathText: string, caller: Caller, origin: RequestOrigin): AsyncResult<FilePath> => {
    const found = await findRunning(deps, id, caller, 'read');
    if (!found.ok) return found;
    const path = parseTarget(pathText);
    if (!path.ok) return path;
    await noted(deps, 'file_deleted', found.value, path.value, caller, origin);
    const removing = refuseIfStopped(deps.files.remove(found.value.handle, path.value));
    const removed = await refuseIfUnknown('file_outcome_unknown', removing);
    return removed.ok ? path : removed;
  };

const noted = (
  { acts }: AccessDeps,
  action: 'file_downloaded' | 'file_uploaded' | 'file_deleted',
  { container }: ContainerWithHandle,
  path: FilePath,
  caller: Caller,
  origin: RequestOrigin,
): Promise<void> =>
  acts.record({ action, caller, origin, dbId: container.dbId, what: { path: pathOf(path) } });
