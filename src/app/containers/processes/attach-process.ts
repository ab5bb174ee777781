import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import type { PtySize } from '../../../domain/containers/processes/process-request.ts';
import type { ProcessSignal } from '../../../domain/containers/processes/signals.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { OutputOffsets, ProcessInput } from '../../../ports/containers/processes/container-processes.ts';
import type { AsyncResult } from '../../async-result.ts';
import { type ControlDeps, resizeProcess, signalProcess, writeInput } from './control-process.ts';
import { findProcess } from './find-process.ts';
import { type OpenedOutput, readOutput } from './process-output.ts';

export type AttachedProcess = {
  readonly output: OpenedOutput;
  /** Offset of this writer's next byte of input; null if it takes none. */
  readonly inputOffset: number | null;
  /** What the caller may do to the process. */
  readonly control: {
    write(input: ProcessInput): AsyncResult<number>;
    resize(size: PtySize): AsyncResult<ContainerProcess>;
    signal(signal: ProcessSignal): AsyncResult<ContainerProcess>;
  };
};

/**
 * A process to follow and to control, for one connection. A caller that stops reading must end the output. `writer`
 * names a client over its connections; its input is counted apart from that of others.
 */
export const attachProcess =
  (deps: ControlDeps) =>
  async (
    id: string,
    processId: string,
    after: OutputOffsets,
    writer: string,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<AttachedProcess> => {
    const found = await findProcess(deps, id, processId, caller);
    if (!found.ok) return found;
    if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    const control: AttachedProcess['control'] = {
      write: (input) =>
        writeInput(deps)(id, processId, { ...input, writer: `${caller.user.id} ${writer}` }, caller),
      resize: (size) => resizeProcess(deps)(id, processId, size, caller),
      signal: (signal) => signalProcess(deps)(id, processId, signal, caller, origin),
    };
    const inputOffset = await inputOf(found.value.process, control.write);
    if (!inputOffset.ok) return inputOffset;
    const output = await readOutput(deps)(id, processId, { after, follow: true }, caller);
    return output.ok ? ok({ output: output.value, inputOffset: inputOffset.value, control }) : output;
  };

/** Writes nothing: the answer to an empty write says where the writer is. */
async function inputOf(
  { takesInput, state }: ContainerProcess,
  write: AttachedProcess['control']['write'],
): AsyncResult<number | null> {
  if (!takesInput || state.kind === 'ended') return ok(null);
  const asked = await write({ data: Buffer.alloc(0), offset: null, isLast: false });
  return !asked.ok && asked.error.code === 'process_ended' ? ok(null) : asked;
}
