import { isAgent } from '../../domain/containers/agents/agent.ts';
import { type Container, volumeName } from '../../domain/containers/container.ts';
import { parseContainerRef } from '../../domain/containers/container-ref.ts';
import type { DomainError } from '../../domain/errors.ts';
import { type Caller, isBarred, type RequestOrigin, reaches } from '../../domain/identity/caller.ts';
import { guestExpired, type User } from '../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import type { OfAgents } from './agents/agents.ts';
import type { ContainerDeps } from './container-deps.ts';
import { checkContainerLimit } from './container-limits.ts';
import { checkHostDisk, diskAllowsStart } from './disk-quota.ts';
import { findOwn, handleOf } from './find-container.ts';
import type { Prepare } from './operations/begin-operation.ts';
import { engineRefusal } from './operations/engine-refusal.ts';
import type { OperationRequest } from './operations/new-operation.ts';
import { type EngineReady, isUnderWay, type OperationState, pinged } from './operations/operation-deps.ts';

/** A container after an operation. `underWay`: the engine did not answer, and the operation continues. */
export type Acted = { readonly container: Container; readonly underWay: boolean };

/** `oldId` and `volumeKept` are present only after a recreate. */
export type Started = Acted & {
  readonly recreated: { readonly oldId: string | null; readonly volumeKept: boolean } | null;
};

const acted = (done: OperationState): Acted => ({ container: done.container, underWay: isUnderWay(done) });

/** A container that blocks the engine would block its own stop as well. */
export async function endHung(
  { runtime, log }: Pick<ContainerDeps, 'runtime' | 'log'>,
  container: Container,
) {
  const handle = handleOf(container);
  if (handle === null || !(await runtime.endHung(handle))) return;
  log.warn({ dbId: container.dbId }, 'killed a container in which no process started');
}

const of = (done: Result<Container, DomainError>): Result<Acted, DomainError> =>
  done.ok ? ok({ container: done.value, underWay: false }) : done;

/** Finds the container again for a later attempt, as the caller may see it then. */
type FindAgain = (tx: Repositories, dbId: string) => AsyncResult<Container>;

const ownedBy =
  (caller: Caller): FindAgain =>
  (tx, dbId) =>
    findOwn(tx, dbId, caller);

/** Runs an operation on a container, as just read, when its turn comes. */
async function operate(
  { operations }: Pick<ContainerDeps, 'operations'>,
  request: OperationRequest,
  container: Container,
  engine: EngineReady,
  findAgain: FindAgain,
): AsyncResult<OperationState> {
  const { dbId } = container;
  let isFirst = true;
  // The first attempt uses the row already read: it fails if the row has changed.
  const prepare: Prepare = async (tx) => {
    const now = isFirst ? ok(container) : await findAgain(tx, dbId);
    isFirst = false;
    if (!now.ok) return now;
    const { name, resources } = now.value;
    return ok({ container: now.value, target: { name, resources } });
  };
  return await operations.submit(dbId, request, prepare, engine).catch(engineRefusal);
}

/** Stops or deletes a container of the engine, also one that hangs. `answers`: of `pinged`. */
export async function takeDownFound(
  deps: Pick<ContainerDeps, 'operations' | 'runtime' | 'log'>,
  request: OperationRequest & { readonly kind: 'stop' | 'delete' },
  container: Container,
  answers: Promise<void>,
  findAgain: FindAgain,
): AsyncResult<Acted> {
  const observable = endHung(deps, container);
  observable.catch(() => undefined);
  const done = await operate(deps, request, container, { answers, observable }, findAgain);
  return done.ok ? ok(acted(done.value)) : done;
}

/** Stops or deletes the caller's container or agent. */
async function takeDown(
  deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'operations' | 'log'>,
  agents: OfAgents,
  kind: 'stop' | 'delete',
  id: string,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Acted> {
  const answers = pinged(deps);
  const found = await findOwn(deps.storage.repositories, id, caller);
  if (!found.ok) return found;
  if (isAgent(found.value)) {
    if (kind === 'stop') return of(await agents.stop(found.value, origin));
    // Unlike a container, it cannot be restored.
    if (isBarred(caller)) return refuse({ code: 'new_password_required' });
    return of(await agents.forget(found.value, origin));
  }
  return await takeDownFound(deps, { kind, caller, origin }, found.value, answers, ownedBy(caller));
}

/**
 * Starts it. If the engine has lost it, recreates it with the same settings on the same volume. An agent is only checked.
 */
export const startContainer =
  (deps: ContainerDeps, agents: OfAgents) =>
  async (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<Started> => {
    const answers = pinged(deps);
    const found = await findOwn(deps.storage.repositories, id, caller);
    if (!found.ok) return found;
    if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    if (isAgent(found.value)) {
      const started = of(agents.start(found.value));
      return started.ok ? ok({ ...started.value, recreated: null }) : started;
    }
    const allowed = await diskAllowsStart(deps, found.value);
    if (!allowed.ok) return allowed;
    const request = { kind: 'start', caller, origin } as const;
    const done = await operate(deps, request, found.value, { answers }, ownedBy(caller));
    if (!done.ok) return done;
    const { container, operation } = done.value;
    const { freshRuntimeId, before, volumeKept } = operation;
    const recreated =
      freshRuntimeId === null ? null : { oldId: before.runtimeId, volumeKept: volumeKept ?? false };
    return ok({ container, recreated, underWay: isUnderWay(done.value) });
  };

/** Stops it with SIGTERM first and closes its terminals. A container already down is only recorded as stopped. */
export const stopContainer =
  (deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'operations' | 'log'>, agents: OfAgents) =>
  (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<Acted> =>
    takeDown(deps, agents, 'stop', id, caller, origin);

/** Removes it from the engine and marks the row deleted. The volume stays. */
export const deleteContainer =
  (deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'operations' | 'log'>, agents: OfAgents) =>
  (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<Acted> =>
    takeDown(deps, agents, 'delete', id, caller, origin);

const ENDLESS = { isEphemeral: false, ttlSeconds: null, idleSeconds: null, onIdle: 'stop' } as const;

/** Undoes a delete while the volume is kept: recreates the container, stopped. Takes the row's id only. */
export const restoreContainer =
  (deps: Pick<ContainerDeps, 'runtime' | 'clock' | 'operations' | 'settings'>) =>
  async (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<Acted> => {
    const ref = parseContainerRef(id);
    const dbId = ref?.kind === 'db_id' ? ref.dbId : null;
    if (dbId === null || !reaches(caller, dbId)) return refuse({ code: 'container_not_found' });
    return await restoreOf(deps, { kind: 'restore', caller, origin }, dbId, caller.user);
  };

/** Restores a container of that user, for the user or for an administrator. */
export async function restoreOf(
  deps: Pick<ContainerDeps, 'runtime' | 'clock' | 'operations' | 'settings'>,
  request: OperationRequest & { readonly kind: 'restore'; readonly caller: Caller },
  dbId: string,
  owner: User,
): AsyncResult<Acted> {
  const isOwn = request.caller.user.id === owner.id;
  const space = await checkHostDisk(deps);
  const volume = await deps.runtime.volumeExists(volumeName(dbId)).then(ok, engineRefusal);
  const prepare: Prepare = async (tx) => {
    if (!(await tx.users.lock(owner.id)))
      return refuse({ code: isOwn ? 'unauthorized' : 'container_not_found' });
    const deleted = await tx.deletedContainers.findForUpdate(dbId, owner.id);
    if (deleted === null) return refuse({ code: 'container_not_found' });
    if (!volume.ok) return volume;
    if (!volume.value) return refuse({ code: 'container_not_found' });
    if (isOwn && guestExpired(owner, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    if (!space.ok) return space;
    const room = await checkContainerLimit(tx, deleted.name, { user: owner });
    if (!room.ok) return room;
    // Its end has passed, or would soon: who restores it wants to have it.
    if (deleted.lifetime.isEphemeral) await tx.lifetimes.change(dbId, ENDLESS);
    return ok({ container: deleted, target: { name: deleted.name, resources: deleted.resources } });
  };
  const done = await deps.operations.submit(dbId, request, prepare).catch(engineRefusal);
  return done.ok ? ok(acted(done.value)) : done;
}
