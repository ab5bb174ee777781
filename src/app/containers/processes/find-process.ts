import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { AsyncResult } from '../../async-result.ts';
import { findOwnInEngine } from '../find-container.ts';
import { type ContainerWithHandle, findRunning } from '../inside/running-container.ts';
import type { ProcessDeps } from './process-deps.ts';

export type Found = { readonly container: Container; readonly process: ContainerProcess };
export type FoundRunning = Found & { readonly handle: RuntimeHandle };

/** A process of the caller's container, running or not. Unknown, malformed and another container's are one refusal. */
export async function findProcess(
  deps: ProcessDeps,
  id: string,
  processId: string,
  caller: Caller,
): AsyncResult<Found> {
  const container = await findOwnInEngine(deps.storage.repositories, id, caller);
  if (!container.ok) return container;
  const process = await recordOf(deps, processId, container.value);
  return process.ok ? ok({ container: container.value, process: process.value }) : process;
}

/** A running container with processes: agents have none. */
export async function findRunningInEngine(
  deps: ProcessDeps,
  id: string,
  caller: Caller,
  wants: 'read' | 'change',
): AsyncResult<ContainerWithHandle> {
  const found = await findRunning(deps, id, caller, wants);
  return found.ok && isAgent(found.value.container) ? refuse({ code: 'not_for_agents' }) : found;
}

/** As `findProcess`, in a running container. */
export async function findReachable(
  deps: ProcessDeps,
  id: string,
  processId: string,
  caller: Caller,
  wants: 'read' | 'change',
): AsyncResult<FoundRunning> {
  const found = await findRunningInEngine(deps, id, caller, wants);
  if (!found.ok) return found;
  const process = await recordOf(deps, processId, found.value.container);
  return process.ok ? ok({ ...found.value, process: process.value }) : process;
}

async function recordOf(
  { storage: { repositories } }: ProcessDeps,
  processId: string,
  { dbId }: Container,
): AsyncResult<ContainerProcess> {
  const found = isUuid(processId) ? await repositories.processes.find(processId.toLowerCase(), dbId) : null;
  return found === null ? refuse({ code: 'process_not_found' }) : ok(found);
}
