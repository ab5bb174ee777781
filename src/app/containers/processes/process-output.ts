import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type {
  OutputOffsets,
  ProcessOutput,
} from '../../../ports/containers/processes/container-processes.ts';
import { refuseIfStopped } from '../running-container.ts';
import { findReachable } from './find-process.ts';
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
  ): Promise<Result<OpenedOutput, DomainError>> => {
    const found = await findReachable(deps, id, processId, caller, 'read');
    if (!found.ok) return found;
    const { container, process, handle } = found.value;
    const opening = deps.processes.output(handle, process.id, after, follow).then(ok);
    const opened = await refuseIfStopped<ProcessOutput | null>(opening);
    if (!opened.ok) return opened;
    const output = opened.value ?? nothingAfter(after);
    if (output.start.stdout < after.stdout || output.start.stderr < after.stderr) {
      await output.end();
      return refuse({ code: 'validation_failed', fields: { after: 'is beyond the end of the output' } });
    }
    const state = async (): Promise<ContainerProcess> =>
      (await settled(deps, container, [process]))[0] ?? process;
    return ok({ ...output, state });
  };

/** Of a process whose output is no longer kept. */
const nothingAfter = (start: OutputOffsets): ProcessOutput => ({
  start,
  pieces: (async function* () {})(),
  end: async () => {},
});
