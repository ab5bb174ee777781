import type { Facts, ObservedState } from '../../../domain/containers/operation.ts';
import type { ContainerObserver, RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';

/** The container from before the operation; null when there was none. */
export const oldHandle = ({ before }: StoredOperation, node: string): RuntimeHandle | null =>
  before.runtimeId === null ? null : { node, runtimeId: before.runtimeId };

/** The generation of the container that the operation makes: known in advance, so that it is found again. */
export const freshGeneration = ({ before }: StoredOperation): number => before.generation + 1;

/** The container that the operation has made, even if a killed process did not record it. */
export async function freshHandle(
  runtime: ContainerObserver,
  operation: StoredOperation,
  node: string,
): Promise<RuntimeHandle | null> {
  if (operation.freshRuntimeId !== null) return { node, runtimeId: operation.freshRuntimeId };
  return await runtime.find(operation.dbId, freshGeneration(operation));
}

const stateOf = async (runtime: ContainerObserver, handle: RuntimeHandle | null): Promise<ObservedState> =>
  handle === null ? 'gone' : (await runtime.observe(handle)).kind;

/** The observed facts, and the container that the operation has made, if any. */
export type EngineObservation = { readonly facts: Facts; readonly freshRuntimeId: string | null };

/** Observes the containers that the operation can touch. Throws when the engine does not answer. */
export async function observe(
  runtime: ContainerObserver,
  operation: StoredOperation,
  node: string,
): Promise<EngineObservation> {
  const hasFresh = operation.kind !== 'stop';
  const observeFresh = async () => {
    const handle = hasFresh ? await freshHandle(runtime, operation, node) : null;
    return { stateOf: await stateOf(runtime, handle), runtimeId: handle?.runtimeId ?? null };
  };
  const [old, fresh] = await Promise.all([stateOf(runtime, oldHandle(operation, node)), observeFresh()]);
  return { facts: { old, fresh: fresh.stateOf }, freshRuntimeId: fresh.runtimeId };
}
