import type { Caller } from '../../domain/caller.ts';
import { findVisible, listVisible } from './access.ts';
import { createContainer } from './create.ts';
import type { ContainerDeps } from './deps.ts';
import { execInContainer } from './exec.ts';
import { listKept } from './kept.ts';
import { deleteContainer, restoreContainer, startContainer, stopContainer } from './lifecycle.ts';
import { purgeContainer } from './purge.ts';
import { updateContainer } from './update.ts';

export type Containers = ReturnType<typeof containers>;

/** The use cases of containers. */
export const containers = (deps: ContainerDeps) => ({
  create: createContainer(deps),
  list: (caller: Caller) => listVisible(deps.storage.repositories, caller),
  listKept: listKept(deps),
  get: (id: string, caller: Caller) => findVisible(deps.storage.repositories, id, caller),
  start: startContainer(deps),
  stop: stopContainer(deps),
  remove: deleteContainer(deps),
  restore: restoreContainer(deps),
  purge: purgeContainer(deps),
  update: updateContainer(deps),
  exec: execInContainer(deps),
});
