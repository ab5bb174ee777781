import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import type { PtySize } from '../../../domain/containers/processes/process-request.ts';
import type { ProcessSignal } from '../../../domain/containers/processes/signals.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, type Result, refuse, unreachable } from '../../../domain/result.ts';
import type { InputOutcome, ProcessInput } from '../../../ports/containers/processes/container-processes.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { ActRecords } from '../../audit/activity-records.ts';
import { handleOf } from '../find-container.ts';
import { refuseIfStopped, refuseIfUnknown } from '../inside/running-container.ts';
import { type Found, findProcess, findReachable } from './find-process.ts';
import type { ProcessDeps } from './process-deps.ts';
import { settled } from './settle-processes.ts';

export type ControlDeps = ProcessDeps & { readonly acts: Pick<ActRecords, 'record'> };

/**
 * Takes input; returns how much the process has in all, or of the writer's. A repeat with the same offset is taken once.
 */
export const writeInput =
  (deps: ControlDeps) =>
  async (id: string, processId: string, input: ProcessInput, caller: Caller): AsyncResult<number> => {
    const found = await findReachable(deps, id, processId, caller, 'change');
    if (!found.ok) return found;
    const { process, handle } = found.value;
    if (process.state.kind === 'ended') return refuse({ code: 'process_ended' });
    if (!process.takesInput) return refuse({ code: 'process_without_input' });
    const writing = deps.processes.write(handle, process.id, input).then(ok);
    const written = await refuseIfUnknown<InputOutcome>('process_outcome_unknown', refuseIfStopped(writing));
    return written.ok ? answerTo(written.value) : written;
  };

function answerTo(outcome: InputOutcome): Result<number, DomainError> {
  switch (outcome.kind) {
    case 'taken':
      return ok(outcome.inputOffset);
    case 'gap':
    case 'closed':
    case 'full':
      return refuse({ code: `process_input_${outcome.kind}`, inputOffset: outcome.inputOffset });
    case 'ended':
      return refuse({ code: 'process_ended' });
    case 'no_input':
      return refuse({ code: 'process_without_input' });
    default:
      return unreachable(outcome);
  }
}

/** Sends a signal to the program and all that it started. */
export const signalProcess =
  (deps: ControlDeps) =>
  async (
    id: string,
    processId: string,
    signal: ProcessSignal,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<ContainerProcess> => {
    const found = await findReachable(deps, id, processId, caller, 'change');
    if (!found.ok) return found;
    const { process, handle, container } = found.value;
    if (process.state.kind === 'ended') return refuse({ code: 'process_ended' });
    await recordSignal(deps, found.value, signal, caller, origin);
    const sent = await refuseIfStopped(deps.processes.signal(handle, process.id, signal).then(ok));
    if (!sent.ok) return sent;
    const [now = process] = await settled(deps, container, [process]);
    return sent.value || now.state.kind === 'starting' ? ok(now) : refuse({ code: 'process_ended' });
  };

/** Changes the size of a process's terminal, of which its foreground programs get SIGWINCH. */
export const resizeProcess =
  (deps: ControlDeps) =>
  async (id: string, processId: string, size: PtySize, caller: Caller): AsyncResult<ContainerProcess> => {
    const found = await findReachable(deps, id, processId, caller, 'change');
    if (!found.ok) return found;
    const { process, handle } = found.value;
    if (process.terminal === null) return refuse({ code: 'process_without_terminal' });
    if (process.state.kind === 'ended') return refuse({ code: 'process_ended' });
    const resized = await refuseIfStopped(deps.processes.resize(handle, process.id, size).then(ok));
    if (!resized.ok) return resized;
    if (!resized.value) return refuse({ code: 'process_ended' });
    await deps.storage.repositories.processes.resize(process.id, size);
    return ok({ ...process, terminal: size });
  };

/** Ends a process and all that it started. One that has ended, or whose container does not run, stays as it is. */
export const endProcess =
  (deps: ControlDeps) =>
  async (
    id: string,
    processId: string,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<ContainerProcess> => {
    const found = await findProcess(deps, id, processId, caller);
    if (!found.ok) return found;
    if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    const { container, process } = found.value;
    const handle = handleOf(container);
    if (handle !== null && container.state === 'running' && handle.runtimeId === process.runtimeId) {
      await recordSignal(deps, found.value, 'TERM', caller, origin);
      const ended = await refuseIfStopped(deps.processes.end(handle, process.id).then(ok));
      if (!ended.ok && ended.error.code !== 'container_not_running') return ended;
    }
    const [now = process] = await settled(deps, container, [process]);
    return ok(now);
  };

const recordSignal = (
  { acts }: ControlDeps,
  { container: { dbId }, process }: Found,
  signal: ProcessSignal,
  caller: Caller,
  origin: RequestOrigin,
): Promise<void> =>
  acts.record({
    action: 'process_signalled',
    caller,
    origin,
    dbId,
    what: { process_id: process.id, signal },
  });
