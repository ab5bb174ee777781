import { setTimeout as sleep } from 'node:timers/promises';
import type { Container } from '../../domain/container.ts';
import type { Step } from '../../domain/operation.ts';
import { CLOSE } from '../../domain/terminal.ts';
import type { ContainerSpec, RuntimeHandle } from '../../ports/container-runtime.ts';
import type { Progress, StoredOperation } from '../../ports/operation-repository.ts';
import type { OperationDeps } from './deps.ts';
import { freshGeneration, freshHandle, oldHandle } from './look.ts';

const STOP_GRACE_SECONDS = 10;

/** A step in the engine, as opposed to one in the database. */
export type EngineStep = Exclude<Step, { do: 'commit' | 'put_back' | 'finish' }>;

/** Does one step in the engine and answers what has become true. Each can be done again. */
export async function perform(
  deps: OperationDeps,
  operation: StoredOperation,
  container: Container,
  step: EngineStep,
): Promise<Progress> {
  const { runtime, terminals } = deps;
  switch (step.do) {
    case 'create_fresh':
      return await createFresh(deps, operation, container);
    case 'start':
      await runtime.start(await handleOf(deps, operation, container, step.which));
      return {};
    case 'stop_old':
      terminals.closeAll(
        operation.dbId,
        operation.kind === 'stop' ? CLOSE.containerStopped : CLOSE.containerRestarted,
      );
      await runtime.stop(await handleOf(deps, operation, container, 'old'), STOP_GRACE_SECONDS);
      return {};
    case 'verify_fresh':
      return await verify(deps, await handleOf(deps, operation, container, 'fresh'));
    case 'remove':
      if (operation.kind === 'delete') terminals.closeAll(operation.dbId, CLOSE.containerDeleted);
      await runtime.remove(await handleOf(deps, operation, container, step.which));
      return step.which === 'fresh' ? { freshRuntimeId: null } : {};
  }
}

/** Whether the volume was there is looked at before the engine makes one. */
async function createFresh(
  { runtime, storage, owner }: OperationDeps,
  operation: StoredOperation,
  container: Container,
): Promise<Progress> {
  const volumeKept = operation.volumeKept ?? (await runtime.volumeExists(container.volume));
  if (operation.kind === 'start' && operation.volumeKept === null) {
    await storage.repositories.operations.record(operation.id, owner, { volumeKept });
  }
  const handle = await runtime.create(specOf(operation, container));
  return { freshRuntimeId: handle.runtimeId, volumeKept };
}

const specOf = (operation: StoredOperation, container: Container): ContainerSpec => ({
  dbId: container.dbId,
  ownerId: container.ownerId,
  generation: freshGeneration(operation),
  operationId: operation.id,
  image: operation.freshImage ?? container.image,
  volume: container.volume,
  hostname: operation.target.name,
  resources: operation.target.resources,
  env: container.env,
});

async function handleOf(
  { runtime }: OperationDeps,
  operation: StoredOperation,
  { node }: Container,
  which: 'old' | 'fresh',
): Promise<RuntimeHandle> {
  const handle = which === 'old' ? oldHandle(operation, node) : await freshHandle(runtime, operation, node);
  if (handle === null) throw new Error(`the ${which} container of ${operation.dbId} has no runtime id`);
  return handle;
}

/** Up means up for a while: a container whose program ends at once has not come up. */
async function verify({ runtime, verifyMs }: OperationDeps, handle: RuntimeHandle): Promise<Progress> {
  await sleep(verifyMs);
  const { kind } = await runtime.observe(handle);
  if (kind !== 'running') throw new Error('the new container did not stay up');
  return { verified: true };
}
