import { isAgent } from '../../domain/containers/agents/agent.ts';
import { type Container, volumeName } from '../../domain/containers/container.ts';
import { parseContainerRef } from '../../domain/containers/container-ref.ts';
import type { OperationKind } from '../../domain/containers/operation.ts';
import type { DomainError } from '../../domain/errors.ts';
import { type Caller, type Origin, reaches } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { OfAgents } from './agents/agents.ts';
import type { ContainerDeps } from './container-deps.ts';
import { checkContainerLimit } from './container-limits.ts';
import { checkHostDisk, diskAllowsStart } from './disk-quota.ts';
import { findOwn, handleOf } from './find-container.ts';
import type { Prepare } from './operations/begin-operation.ts';
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

/** Runs an operation on the caller's container, as just read, when its turn comes. */
async function operate(
  { operations }: ContainerDeps,
  {
    kind,
    caller,
    origin,
  }: Pick<OperationRequest, 'origin'> & {
    readonly kind: OperationKind;
    readonly caller: Caller;
  },
  container: Container,
  engine: EngineReady,
): Promise<Result<OperationState, DomainError>> {
  const { dbId } = container;
  let isFirst = true;
  // The first attempt uses the row already read: it fails if the row has changed.
  const prepare: Prepare = async (tx) => {
    const now = isFirst ? ok(container) : await findOwn(tx, dbId, caller);
    isFirst = false;
    if (!now.ok) return now;
    const { name, resources } = now.value;
    return ok({ container: now.value, target: { name, resources } });
  };
  return await operations.submit(dbId, { kind, caller, origin }, prepare, engine);
}

/** Stops or deletes a container, also one that hangs. */
async function takeDown(
  deps: ContainerDeps,
  agents: OfAgents,
  kind: 'stop' | 'delete',
  id: string,
  caller: Caller,
  origin: Origin,
): Promise<Result<Acted, DomainError>> {
  const answers = pinged(deps);
  const found = await findOwn(deps.storage.repositories, id, caller);
  if (!found.ok) return found;
  if (isAgent(found.value)) return of(await agents[kind === 'stop' ? 'stop' : 'forget'](found.value, origin));
  const observable = endHung(deps, found.value);
  observable.catch(() => undefined);
  const done = await operate(deps, { kind, caller, origin }, found.value, { answers, observable });
  return done.ok ? ok(acted(done.value)) : done;
}

/**
 * Starts it. If the engine has lost it, recreates it with the same settings on the same volume. An agent is only checked.
 */
export const startContainer =
  (deps: ContainerDeps, agents: OfAgents) =>
  async (id: string, caller: Caller, origin: Origin): Promise<Result<Started, DomainError>> => {
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
    const done = await operate(deps, { kind: 'start', caller, origin }, found.value, { answers });
    if (!done.ok) return done;
    const { container, operation } = done.value;
    const { freshRuntimeId, before, volumeKept } = operation;
    const recreated =
      freshRuntimeId === null ? null : { oldId: before.runtimeId, volumeKept: volumeKept ?? false };
    return ok({ container, recreated, underWay: isUnderWay(done.value) });
  };

/** Stops it with SIGTERM first and closes its terminals. A container already down is only recorded as stopped. */
export const stopContainer =
  (deps: ContainerDeps, agents: OfAgents) =>
  (id: string, caller: Caller, origin: Origin): Promise<Result<Acted, DomainError>> =>
    takeDown(deps, agents, 'stop', id, caller, origin);

/** Removes it from the engine and marks the row deleted. The volume stays. */
export const deleteContainer =
  (deps: ContainerDeps, agents: OfAgents) =>
  (id: string, caller: Caller, origin: Origin): Promise<Result<Acted, DomainError>> =>
    takeDown(deps, agents, 'delete', id, caller, origin);

const ENDLESS = { isEphemeral: false, ttlSeconds: null, idleSeconds: null, onIdle: 'stop' } as const;

/** Undoes a delete while the volume is kept: recreates the container, stopped. Takes the row's id only. */
export const restoreContainer =
  (deps: ContainerDeps) =>
  async (id: string, caller: Caller, origin: Origin): Promise<Result<Acted, DomainError>> => {
    const ref = parseContainerRef(id);
    const dbId = ref?.kind === 'db_id' ? ref.dbId : null;
    if (dbId === null || !reaches(caller, dbId)) return refuse({ code: 'container_not_found' });
    const space = await checkHostDisk(deps);
    const hasVolume = await deps.runtime.volumeExists(volumeName(dbId));
    const done = await deps.operations.submit(dbId, { kind: 'restore', caller, origin }, async (tx) => {
      if (!(await tx.users.lock(caller.user.id))) return refuse({ code: 'unauthorized' });
      const deleted = await tx.deletedContainers.findForUpdate(dbId, caller.user.id);
      if (deleted === null || !hasVolume) return refuse({ code: 'container_not_found' });
      if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
      if (!space.ok) return space;
      const room = await checkContainerLimit(tx, deleted.name, caller);
      if (!room.ok) return room;
      // Its end has passed, or would soon: who restores it wants to have it.
      if (deleted.lifetime.isEphemeral) await tx.lifetimes.change(dbId, ENDLESS);
      return ok({ container: deleted, target: { name: deleted.name, resources: deleted.resources } });
    });
    return done.ok ? ok(acted(done.value)) : done;
  };
