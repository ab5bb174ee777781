import type { Caller } from '../../domain/identity/caller.ts';
import type { OfAgents } from './agents/agents.ts';
import type { ContainerDeps } from './container-deps.ts';
import { deleteContainer, restoreContainer, startContainer, stopContainer } from './container-lifecycle.ts';
import { createContainer } from './create-container.ts';
import { findVisible, visibleLists } from './find-container.ts';
import { changeLifetime, readLifetime } from './lifetime/container-lifetime.ts';
import { listKept, sumKept } from './retention/deleted-containers.ts';
import { purgeContainer } from './retention/purge-container.ts';
import { updateContainer } from './update-container.ts';

export type Containers = ReturnType<typeof containers>;

export const containers = (deps: ContainerDeps, agents: OfAgents) => ({
  create: createContainer(deps),
  list: visibleLists(deps.storage.repositories),
  listKept: listKept(deps),
  sumKept: sumKept(deps),
  get: (id: string, caller: Caller) => findVisible(deps.storage.repositories, id, caller),
  start: startContainer(deps, agents),
  stop: stopContainer(deps, agents),
  remove: deleteContainer(deps, agents),
  restore: restoreContainer(deps),
  purge: purgeContainer(deps),
  update: updateContainer(deps),
  readLifetime: readLifetime(deps),
  changeLifetime: changeLifetime(deps),
});
