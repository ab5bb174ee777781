import { forEachAtMost } from '../../../concurrency/pool.ts';
import { within } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { mayLackOutput } from '../../../domain/containers/processes/process.ts';
import { ContainerNotRunning, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { ContainerProcesses } from '../../../ports/containers/processes/container-processes.ts';
import type { Unstored } from '../../../ports/containers/processes/process-output-repository.ts';
import { handleOf } from '../find-container.ts';
import { copyOutput } from './copy-output.ts';
import type { ProcessDeps } from './process-deps.ts';

/** How long a stop may wait for copies. */
const MAX_STOP_DELAY_MS = 5_000;
/** How long one copy may take. */
const MAX_COPY_MS = 5_000;
/** In a pass, no copy of an owner begins later. */
const OWNER_PASS_MS = 5_000;
const OWNERS_AT_A_TIME = 4;
const NOTHING = { firstKept: 0, data: Buffer.alloc(0) };
const EMPTY = { stdout: NOTHING, stderr: NOTHING };

type StoreDeps = Pick<ProcessDeps, 'storage' | 'log'> & {
  readonly processes: Pick<ContainerProcesses, 'kept' | 'output'>;
};

/**
 * Copies the output of processes that have ended out of their containers; for a timer. Owners do not wait for each
 * other, and a container that does not answer has one copy under way.
 */
export function storeOutputs(deps: StoreDeps, copyMs = MAX_COPY_MS): () => Promise<void> {
  const { containers, processes, processOutputs } = deps.storage.repositories;
  const underway = new Set<string>();

  async function storeInTime({ processId, dbId, ownerId }: Unstored): Promise<boolean> {
    const container = await containers.findAny(dbId);
    const handle = container === null ? null : handleOf(container);
    const process = await processes.find(processId, dbId);
    if (handle === null || process === null) return false;
    underway.add(dbId);
    const ended = { id: processId, ownerId, isWhole: !mayLackOutput(process) };
    const storing = storeOne(deps, handle, ended, AbortSignal.timeout(copyMs));
    return await within(
      copyMs,
      storing.finally(() => underway.delete(dbId)),
      false,
    );
  }

  async function storeOfOwner(unstored: readonly Unstored[]): Promise<void> {
    const untilMs = performance.now() + OWNER_PASS_MS;
    const silent = new Set<string>();
    for (const one of unstored) {
      if (performance.now() > untilMs) return;
      if (underway.has(one.dbId) || silent.has(one.dbId)) continue;
      if (!(await storeInTime(one))) silent.add(one.dbId);
    }
  }

  return async () => {
    const ofOwners = Map.groupBy(await processOutputs.unstored(), ({ ownerId }) => ownerId);
    await forEachAtMost(OWNERS_AT_A_TIME, [...ofOwners.values()], storeOfOwner);
  };
}

/** Copies what the processes of a container have written, before it stops. A copy that fails does not delay it. */
export const storeBeforeStop =
  (deps: StoreDeps, limitMs = MAX_STOP_DELAY_MS) =>
  async (container: Container): Promise<void> => {
    const handle = handleOf(container);
    if (handle === null) return;
    const { dbId, ownerId } = container;
    const limit = AbortSignal.timeout(limitMs);
    const storing = async (): Promise<void> => {
      const all = await deps.storage.repositories.processes.list(dbId);
      for (const process of all) {
        const { id, runtimeId } = process;
        if (runtimeId !== handle.runtimeId) continue;
        const isWhole = process.state.kind === 'ended' && !mayLackOutput(process);
        if (!(await storeOne(deps, handle, { id, ownerId, isWhole }, limit))) return;
      }
    };
    const stored = storing().catch((err: unknown) =>
      deps.log.warn({ err, dbId }, 'could not store the outputs of a container'),
    );
    await within(limitMs, stored, undefined);
  };

type Asked = { readonly id: string; readonly ownerId: string; readonly isWhole: boolean };

/** Copies one output. False when the container does not answer before the signal. */
async function storeOne(
  { storage, processes, log }: StoreDeps,
  handle: RuntimeHandle,
  { id, ownerId, isWhole }: Asked,
  signal: AbortSignal,
): Promise<boolean> {
  const { processOutputs } = storage.repositories;
  try {
    const earlier = await processOutputs.find(id);
    if (earlier?.isWhole) return true;
    signal.throwIfAborted();
    // What the container has lost does not replace what was saved.
    const output = (await copyOutput(processes, handle, id, signal)) ?? earlier ?? EMPTY;
    await processOutputs.store(id, ownerId, { ...output, isWhole });
    return true;
  } catch (err) {
    if (!(err instanceof ContainerNotRunning))
      log.warn({ err, id }, 'could not store the output of a process');
    return false;
  }
}
