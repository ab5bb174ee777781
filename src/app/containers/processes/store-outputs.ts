import { within } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { mayLackOutput } from '../../../domain/containers/processes/process.ts';
import { MAX_STORED_BYTES, type StoredOutput } from '../../../domain/containers/processes/stored-output.ts';
import { ContainerNotRunning, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { KeptOutput } from '../../../ports/containers/processes/container-processes.ts';
import { handleOf } from '../find-container.ts';
import type { ProcessDeps } from './process-deps.ts';

/** How long a stop may wait for copies. */
const MAX_STOP_DELAY_MS = 5_000;
/** How long one copy may take. */
const MAX_COPY_MS = 5_000;
const NOTHING = { firstKept: 0, data: Buffer.alloc(0) };
const EMPTY = { stdout: NOTHING, stderr: NOTHING };

type StoreDeps = Pick<ProcessDeps, 'storage' | 'processes' | 'log'>;

/** Copies the output of processes that have ended out of their containers; for a timer. */
export const storeOutputs = (deps: StoreDeps) => async (): Promise<void> => {
  const { containers, processes, processOutputs } = deps.storage.repositories;
  const silent = new Set<string>();
  for (const { processId, dbId, ownerId } of await processOutputs.unstored()) {
    if (silent.has(dbId)) continue;
    const container = await containers.findAny(dbId);
    const handle = container === null ? null : handleOf(container);
    const process = await processes.find(processId, dbId);
    if (handle === null || process === null) continue;
    const storing = storeOne(deps, handle, processId, ownerId, !mayLackOutput(process));
    const isDone = await within(MAX_COPY_MS, storing, false);
    if (!isDone) silent.add(dbId);
  }
};

/** Copies what the processes of a container have written, before it stops. A copy that fails does not delay it. */
export const storeBeforeStop =
  (deps: StoreDeps) =>
  async (container: Container): Promise<void> => {
    const handle = handleOf(container);
    if (handle === null) return;
    const storing = async (): Promise<void> => {
      const all = await deps.storage.repositories.processes.list(container.dbId);
      for (const process of all) {
        const { id, runtimeId } = process;
        const isWhole = process.state.kind === 'ended' && !mayLackOutput(process);
        if (runtimeId !== handle.runtimeId) continue;
        if (!(await storeOne(deps, handle, id, container.ownerId, isWhole))) return;
      }
    };
    const stored = storing().catch((err: unknown) =>
      deps.log.warn({ err, dbId: container.dbId }, 'could not store the outputs of a container'),
    );
    await within(MAX_STOP_DELAY_MS, stored, undefined);
  };

/** Copies one output. False when the container does not answer. */
async function storeOne(
  { storage, processes, log }: StoreDeps,
  handle: RuntimeHandle,
  id: string,
  ownerId: string,
  isWhole: boolean,
): Promise<boolean> {
  const { processOutputs } = storage.repositories;
  try {
    const earlier = await processOutputs.find(id);
    if (earlier?.isWhole) return true;
    // What the container has lost does not replace what was saved.
    const output = (await copyOf({ processes }, handle, id)) ?? earlier ?? EMPTY;
    await processOutputs.store(id, ownerId, { ...output, isWhole });
    return true;
  } catch (err) {
    if (!(err instanceof ContainerNotRunning))
      log.warn({ err, id }, 'could not store the output of a process');
    return false;
  }
}

async function copyOf(
  { processes }: Pick<StoreDeps, 'processes'>,
  handle: RuntimeHandle,
  id: string,
): Promise<Omit<StoredOutput, 'isWhole'> | null> {
  const kept = await processes.kept(handle, id);
  const opened = kept === null ? null : await processes.output(handle, id, newestOf(kept), false);
  if (opened === null) return null;
  const copied = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const at = { ...opened.start };
  const first = { ...opened.start };
  for await (const { stream, offset, data } of opened.pieces) {
    // Output was removed meanwhile: what was read before the gap is not the newest.
    if (offset !== at[stream]) {
      copied[stream] = [];
      first[stream] = offset;
    }
    copied[stream].push(data);
    at[stream] = offset + data.length;
    // The program writes faster than this reads.
    if (at[stream] - first[stream] > 2 * MAX_STORED_BYTES) break;
  }
  await opened.end();
  const newest = (stream: 'stdout' | 'stderr') => {
    const all = Buffer.concat(copied[stream]);
    const data = all.subarray(Math.max(0, all.length - MAX_STORED_BYTES));
    return { firstKept: at[stream] - data.length, data };
  };
  return { stdout: newest('stdout'), stderr: newest('stderr') };
}

const newestOf = ({ stdout, stderr }: KeptOutput) => ({
  stdout: Math.max(stdout.firstKept, stdout.bytes - MAX_STORED_BYTES),
  stderr: Math.max(stderr.firstKept, stderr.bytes - MAX_STORED_BYTES),
});
