import { randomUUID } from 'node:crypto';
import type { AuditAction } from '../../domain/audit.ts';
import type { Caller, Origin } from '../../domain/caller.ts';
import type { Container } from '../../domain/container.ts';
import type { ContainerSpec, RuntimeHandle } from '../../ports/container-runtime.ts';
import type { ContainerDeps } from './deps.ts';

/** What the engine needs to make the container of a row. */
const specOf = (container: Container): ContainerSpec => ({
  dbId: container.dbId,
  ownerId: container.ownerId,
  generation: container.generation,
  operationId: randomUUID(),
  image: container.image,
  volume: container.volume,
  hostname: container.name,
  resources: container.resources,
  env: container.env,
});

/**
 * Makes and starts the engine's container of a row, then records that it runs. Every step can be repeated: the
 * engine's name of the container is derived from the row, so a second try adopts what the first one left.
 */
export async function launch(
  deps: ContainerDeps,
  container: Container,
  action: AuditAction,
  caller: Caller,
  origin: Origin,
): Promise<Container> {
  const { runtime } = deps;
  let made: RuntimeHandle | null = null;
  try {
    made = await runtime.create(specOf(container));
    await runtime.start(made);
    return await recordRunning(deps, container, made, action, caller, origin);
  } catch (error) {
    if (made !== null) await runtime.remove(made).catch(() => undefined);
    await recordFailure(deps, container, error);
    throw error;
  }
}

/** Starts the engine's container of a row as it is, and records that it runs. */
export async function startExisting(
  deps: ContainerDeps,
  container: Container,
  handle: RuntimeHandle,
  caller: Caller,
  origin: Origin,
): Promise<Container> {
  try {
    await deps.runtime.start(handle);
    return await recordRunning(deps, container, handle, 'container_started', caller, origin);
  } catch (error) {
    await recordFailure(deps, container, error);
    throw error;
  }
}

/** A create that failed leaves no container behind; a start that failed leaves a stopped one. */
async function recordFailure(
  { storage, log }: ContainerDeps,
  container: Container,
  error: unknown,
): Promise<void> {
  log.error({ err: error, dbId: container.dbId }, 'container did not come up');
  await storage.repositories.containers.changeState(container.dbId, ['creating', 'starting'], {
    state: container.state === 'creating' ? 'deleted' : 'stopped',
    reason: 'the engine could not start it',
  });
}

async function recordRunning(
  { storage }: ContainerDeps,
  container: Container,
  handle: RuntimeHandle,
  action: AuditAction,
  caller: Caller,
  origin: Origin,
): Promise<Container> {
  return await storage.inTransaction(async (tx) => {
    const changed = await tx.containers.changeState(container.dbId, ['creating', 'starting'], {
      state: 'running',
      runtimeId: handle.runtimeId,
      node: handle.node,
      started: true,
    });
    if (changed === null) throw new Error(`container ${container.dbId} changed under its own lock`);
    await tx.audit.append({ userId: caller.user.id, action, ...origin, details: container.dbId });
    return changed;
  });
}
