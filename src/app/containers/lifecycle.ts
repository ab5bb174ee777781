import type { Caller, Origin } from '../../domain/caller.ts';
import { type Container, decideStart, decideStop } from '../../domain/container.ts';
import type { DomainError } from '../../domain/errors.ts';
import { ok, type Result } from '../../domain/result.ts';
import { CLOSE } from '../../domain/terminal.ts';
import { findOwn, handleOf, observe } from './access.ts';
import type { ContainerDeps } from './deps.ts';
import { launch, startExisting } from './launch.ts';

/** `oldId` and `volumeKept` are there only when the container had to be made anew. */
export type Started = {
  readonly container: Container;
  readonly recreated: { readonly oldId: string | null; readonly volumeKept: boolean } | null;
};

const STOP_GRACE_SECONDS = 10;
const AT_REST = ['running', 'stopped', 'failed', 'creating', 'starting', 'stopping'] as const;

/** Loads the row again once it is this call's turn: it may have changed, or gone, while waiting. */
const inTurn =
  (deps: ContainerDeps) =>
  async <T>(
    id: string,
    caller: Caller,
    work: (container: Container) => Promise<Result<T, DomainError>>,
  ): Promise<Result<T, DomainError>> => {
    const found = await findOwn(deps.storage.repositories, id, caller);
    if (!found.ok) return found;
    const { dbId } = found.value;
    return await deps.serial(dbId, async () => {
      const now = await findOwn(deps.storage.repositories, dbId, caller);
      return now.ok ? await work(now.value) : now;
    });
  };

/** Starts it; when the engine has lost it, makes it anew with the same settings on the same volume. */
export const startContainer =
  (deps: ContainerDeps) =>
  (id: string, caller: Caller, origin: Origin): Promise<Result<Started, DomainError>> =>
    inTurn(deps)(id, caller, async (container): Promise<Result<Started, DomainError>> => {
      const decision = decideStart(caller.user, await observe(deps.runtime, container), deps.clock.now());
      if (!decision.ok) return decision;
      switch (decision.value.do) {
        case 'nothing': {
          const settled = await change(deps, container, 'running', true);
          return ok({ container: settled, recreated: null });
        }
        case 'start': {
          const starting = await change(deps, container, 'starting');
          const handle = handleOf(starting);
          if (handle === null) throw new Error(`container ${starting.dbId} was seen without a runtime id`);
          return ok({
            container: await startExisting(deps, starting, handle, caller, origin),
            recreated: null,
          });
        }
        case 'recreate': {
          const starting = await change(deps, container, 'starting', false, container.generation + 1);
          const made = await launch(deps, starting, 'container_started', caller, origin);
          const { volumeKept } = decision.value;
          return ok({ container: made, recreated: { oldId: container.runtimeId, volumeKept } });
        }
      }
    });

/** Stops it politely and closes its terminals. One that is down already is only recorded as such. */
export const stopContainer =
  (deps: ContainerDeps) =>
  (id: string, caller: Caller, origin: Origin): Promise<Result<Container, DomainError>> =>
    inTurn(deps)(id, caller, async (container) => {
      const decision = decideStop(container, await observe(deps.runtime, container));
      if (decision.do === 'nothing') return ok(container);
      if (decision.do === 'mark_stopped') return ok(await change(deps, container, 'stopped'));
      const handle = handleOf(container);
      await change(deps, container, 'stopping');
      deps.terminals.closeAll(container.dbId, CLOSE.containerStopped);
      if (handle !== null) await deps.runtime.stop(handle, STOP_GRACE_SECONDS);
      return ok(await finish(deps, container, 'stopped', 'container_stopped', caller, origin));
    });

/** Removes it from the engine and marks the row deleted. The volume is kept. */
export const deleteContainer =
  (deps: ContainerDeps) =>
  (id: string, caller: Caller, origin: Origin): Promise<Result<Container, DomainError>> =>
    inTurn(deps)(id, caller, async (container) => {
      const handle = handleOf(container);
      deps.terminals.closeAll(container.dbId, CLOSE.containerDeleted);
      if (handle !== null) await deps.runtime.remove(handle);
      return ok(await finish(deps, container, 'deleted', 'container_deleted', caller, origin));
    });

async function change(
  { storage }: ContainerDeps,
  container: Container,
  state: 'starting' | 'running' | 'stopping' | 'stopped',
  keepReason = false,
  generation = container.generation,
): Promise<Container> {
  if (container.state === state && container.generation === generation) return container;
  const reason = keepReason ? container.stateReason : null;
  const changed = await storage.repositories.containers.changeState(container.dbId, AT_REST, {
    state,
    reason,
    generation,
  });
  if (changed === null) throw new Error(`container ${container.dbId} is ${container.state}`);
  return changed;
}

async function finish(
  { storage }: ContainerDeps,
  container: Container,
  state: 'stopped' | 'deleted',
  action: 'container_stopped' | 'container_deleted',
  { user }: Caller,
  origin: Origin,
): Promise<Container> {
  return await storage.inTransaction(async (tx) => {
    const changed = await tx.containers.changeState(container.dbId, AT_REST, { state });
    if (changed === null) throw new Error(`container ${container.dbId} changed under its own lock`);
    await tx.audit.append({ userId: user.id, action, ...origin, details: container.dbId });
    return changed;
  });
}
