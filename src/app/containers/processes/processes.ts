import { type ContainerProcess, mayLackOutput } from '../../../domain/containers/processes/process.ts';
import type { StoredStream } from '../../../domain/containers/processes/stored-output.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { ok } from '../../../domain/result.ts';
import { nullWhenStopped } from '../../../ports/containers/container-runtime.ts';
import type { ContainerUse } from '../../../ports/containers/lifetime/lifetime-repository.ts';
import type { KeptOutput } from '../../../ports/containers/processes/container-processes.ts';
import type { AsyncResult } from '../../async-result.ts';
import { findOwnInEngine, handleOf } from '../find-container.ts';
import { refuseIfStopped } from '../inside/running-container.ts';
import { attachProcess } from './attach-process.ts';
import { type ControlDeps, endProcess, resizeProcess, signalProcess, writeInput } from './control-process.ts';
import { findProcess } from './find-process.ts';
import { readOutput } from './process-output.ts';
import { settleAll, settled } from './settle-processes.ts';
import { resumeStart, startProcess } from './start-process.ts';

export type Processes = ReturnType<typeof processes>;

/** The processes of a caller's containers. */
export const processes = (deps: ControlDeps) => ({
  start: startProcess(deps),
  resumeStart: resumeStart(deps),
  list: listProcesses(deps),
  get: getProcess(deps),
  output: readOutput(deps),
  write: writeInput(deps),
  signal: signalProcess(deps),
  resize: resizeProcess(deps),
  end: endProcess(deps),
  attach: attachProcess(deps),
  settleAll: settleAll(deps),
  /** Running processes keep their containers from being idle. */
  usesNow: usesNow(deps),
});

const usesNow = (deps: ControlDeps) => async (): Promise<readonly ContainerUse[]> => {
  const busy = await deps.storage.repositories.processes.busyContainers();
  return busy.map(({ dbId }) => ({ dbId, kind: 'process' }));
};

/** Running and recently ended ones, newest first. */
const listProcesses =
  (deps: ControlDeps) =>
  async (id: string, caller: Caller): AsyncResult<readonly ContainerProcess[]> => {
    const { repositories } = deps.storage;
    const container = await findOwnInEngine(repositories, id, caller);
    if (!container.ok) return container;
    const records = await repositories.processes.list(container.value.dbId);
    return await refuseIfStopped(settled(deps, container.value, records).then((all) => ok(all)));
  };

export type ProcessWithOutput = {
  readonly process: ContainerProcess;
  /** null when none of it is kept. `isWhole`: it has written no more than that. */
  readonly output: (KeptOutput & { readonly isWhole: boolean }) | null;
};

const getProcess =
  (deps: ControlDeps) =>
  async (id: string, processId: string, caller: Caller): AsyncResult<ProcessWithOutput> => {
    const found = await findProcess(deps, id, processId, caller);
    if (!found.ok) return found;
    const { container, process } = found.value;
    const present = container.state === 'running' ? handleOf(container) : null;
    const handle = present?.runtimeId === process.runtimeId ? present : null;
    const read = async () => {
      // The output of a process that is seen to have ended is whole afterwards.
      const [now = process] = await settled(deps, container, [process]);
      const kept = handle === null ? Promise.resolve(null) : deps.processes.kept(handle, process.id);
      const output = await kept.catch(nullWhenStopped);
      const stored = output === null ? await storedSizes(deps, process.id) : null;
      const known = output === null ? stored : { ...output, isWhole: true };
      return ok({
        process: now,
        output: known && { ...known, isWhole: known.isWhole && !mayLackOutput(now) },
      });
    };
    return await refuseIfStopped(read());
  };

/** Of the copy outside the container. */
async function storedSizes(
  { storage }: ControlDeps,
  processId: string,
): Promise<ProcessWithOutput['output']> {
  const stored = await storage.repositories.processOutputs.find(processId);
  if (stored === null) return null;
  const sizes = ({ firstKept, data }: StoredStream) => ({ firstKept, bytes: firstKept + data.length });
  return { stdout: sizes(stored.stdout), stderr: sizes(stored.stderr), isWhole: stored.isWhole };
}
