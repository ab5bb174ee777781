import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import { type StoredOutput, storedAfter } from '../../../domain/containers/processes/stored-output.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type {
  OutputOffsets,
  ProcessOutput,
} from '../../../ports/containers/processes/container-processes.ts';
import type { AsyncResult } from '../../async-result.ts';
import { refuseIfStopped } from '../inside/running-container.ts';
import { type Found, findProcess, findReachable } from './find-process.ts';
import type { ProcessDeps } from './process-deps.ts';
import { settled } from './settle-processes.ts';

export type OutputRequest = { readonly after: OutputOffsets; readonly follow: boolean };

export type OpenedOutput = ProcessOutput & {
  /** The process as it is now; asked after the last piece. */
  state(): Promise<ContainerProcess>;
};

/** The output of a process from these offsets on. A caller that stops reading must `end` it. */
export const readOutput =
  (deps: ProcessDeps) =>
  async (
    id: string,
    processId: string,
    { after, follow }: OutputRequest,
    caller: Caller,
  ): AsyncResult<OpenedOutput> => {
    const found = await findProcess(deps, id, processId, caller);
    if (!found.ok) return found;
    const { container, process } = found.value;
    const opened = await openOutput(deps, found.value, { after, follow }, caller);
    if (!opened.ok) return opened;
    const output = opened.value;
    if (output.start.stdout < after.stdout || output.start.stderr < after.stderr) {
      await output.end();
      return refuse({ code: 'validation_failed', fields: { after: 'is beyond the end of the output' } });
    }
    const state = async (): Promise<ContainerProcess> =>
      (await settled(deps, container, [process]))[0] ?? process;
    return ok({ ...output, state });
  };

/** The output from the container as long as that has it, else from the copy. */
async function openOutput(
  deps: ProcessDeps,
  { container, process }: Found,
  { after, follow }: OutputRequest,
  caller: Caller,
): AsyncResult<ProcessOutput> {
  const { processOutputs } = deps.storage.repositories;
  const reachable = await findReachable(deps, container.dbId, process.id, caller, 'read');
  const isHere = reachable.ok && reachable.value.handle.runtimeId === process.runtimeId;
  const opening = isHere
    ? deps.processes.output(reachable.value.handle, process.id, after, follow).then(ok)
    : Promise.resolve(ok(null));
  const opened = await refuseIfStopped<ProcessOutput | null>(opening);
  if (opened.ok && opened.value !== null) return ok(opened.value);
  const stored = await processOutputs.find(process.id);
  if (stored !== null) return ok(storedOutput(stored, after));
  if (!reachable.ok) return reachable;
  return opened.ok ? ok(nothingAfter(after)) : opened;
}

function storedOutput(stored: StoredOutput, after: OutputOffsets): ProcessOutput {
  const stdout = storedAfter(stored.stdout, after.stdout);
  const stderr = storedAfter(stored.stderr, after.stderr);
  const parts = [
    { stream: 'stdout', offset: stdout.firstKept, data: stdout.data },
    { stream: 'stderr', offset: stderr.firstKept, data: stderr.data },
  ] as const;
  return {
    start: { stdout: stdout.firstKept, stderr: stderr.firstKept },
    pieces: (async function* () {
      for (const part of parts) if (part.data.length > 0) yield part;
    })(),
    end: async () => {},
  };
}

/** Of a process whose output is no longer kept. */
const nothingAfter = (start: OutputOffsets): ProcessOutput => ({
  start,
  pieces: (async function* () {})(),
  end: async () => {},
});
