import { randomUUID } from 'node:crypto';
import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import { processDetails } from '../../../domain/containers/processes/process-details.ts';
import {
  defaultName,
  MAX_RUNNING_PER_CONTAINER,
  MAX_RUNNING_PER_USER,
  type ProcessRequest,
  processFaults,
} from '../../../domain/containers/processes/process-request.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { Note } from '../../idempotency.ts';
import { orRollBack } from '../../transaction.ts';
import { findOwnInEngine, handleOf } from '../find-container.ts';
import { refuseIfStopped, refuseIfUnknown } from '../inside/running-container.ts';
import { type FoundRunning, findReachable, findRunningInEngine } from './find-process.ts';
import type { ProcessDeps } from './process-deps.ts';
import { settled } from './settle-processes.ts';

type Started = Result<ContainerProcess, DomainError>;

export type StartRequest = { readonly request: ProcessRequest; readonly name: string | null };

/** Records a process, then starts it. `note` links the record to the request that makes it. */
export const startProcess =
  (deps: ProcessDeps) =>
  async (
    id: string,
    { request, name }: StartRequest,
    caller: Caller,
    origin: RequestOrigin,
    note: Note,
  ): Promise<Started> => {
    const found = await findRunningInEngine(deps, id, caller, 'change');
    if (!found.ok) return found;
    const fields = processFaults(request, name);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const { dbId } = found.value.container;
    const { command, takesInput, terminal } = request;
    const made = await orRollBack(deps.storage.inTransaction, async (tx) => {
      await tx.users.lock(caller.user.id);
      await tx.lifetimes.findForUpdate(dbId);
      // It may have been given away, stopped or recreated before the lock.
      const now = await findOwnInEngine(tx, dbId, caller);
      if (!now.ok) return now;
      const container = now.value;
      const handle = handleOf(container);
      if (container.state !== 'running' || handle === null) return refuse({ code: 'container_not_running' });
      const refusal = await refusalOf(tx, dbId, caller.user.id, name);
      if (refusal !== null) return refuse(refusal);
      const process = await tx.processes.insert({
        id: randomUUID(),
        dbId,
        userId: caller.user.id,
        runtimeId: handle.runtimeId,
        name: name ?? defaultName(command),
        command,
        takesInput,
        terminal,
      });
      const details = processDetails(process, caller.credential);
      await tx.audit.append({ userId: caller.user.id, action: 'process_started', ...origin, details });
      await note(tx, process.id);
      return ok({ container, handle, process });
    });
    if (!made.ok) return made;
    await deps.storage.repositories.containers.touch(dbId);
    return await act(deps, made.value, request);
  };

/** Continues a start whose service was killed; a process that has got further stays as it is. */
export const resumeStart =
  (deps: ProcessDeps) =>
  async (id: string, processId: string, { request }: StartRequest, caller: Caller): Promise<Started> => {
    const found = await findReachable(deps, id, processId, caller, 'change');
    if (!found.ok) return found;
    const { process, handle } = found.value;
    if (process.state.kind !== 'starting' || process.runtimeId !== handle.runtimeId) return ok(process);
    return await act(deps, found.value, request);
  };

async function refusalOf(
  tx: Repositories,
  dbId: string,
  userId: string,
  name: string | null,
): Promise<DomainError | null> {
  const { ofContainer, ofUser } = await tx.processes.count(dbId, userId);
  if (ofContainer >= MAX_RUNNING_PER_CONTAINER)
    return { code: 'process_limit_reached', max: MAX_RUNNING_PER_CONTAINER };
  if (ofUser >= MAX_RUNNING_PER_USER) return { code: 'process_limit_reached', max: MAX_RUNNING_PER_USER };
  return name !== null && (await tx.processes.hasNamed(dbId, name)) ? { code: 'name_taken' } : null;
}

/** A start without an answer stays `starting`, until the container says more. */
async function act(
  deps: ProcessDeps,
  { container, handle, process }: FoundRunning,
  request: ProcessRequest,
): Promise<Started> {
  const { processes } = deps.storage.repositories;
  const starting = deps.processes.start(handle, process.id, request).then(ok);
  const started = await refuseIfUnknown('command_outcome_unknown', refuseIfStopped(starting));
  if (started.ok && started.value.kind === 'started') {
    const state = { kind: 'running', pid: started.value.pid } as const;
    await processes.advance(process.id, 'starting', state);
    return ok({ ...process, state });
  }
  if (started.ok && started.value.kind === 'known') {
    const [now = process] = await settled(deps, container, [process]);
    return ok(now);
  }
  if (!started.ok && started.error.code === 'command_outcome_unknown') return started;
  const state = { kind: 'ended', pid: null, by: 'not_started', exitCode: null } as const;
  await processes.advance(process.id, 'starting', { ...state, endedAt: deps.clock.now() });
  if (!started.ok) return started;
  const isFull = started.value.kind === 'no_processes';
  return refuse({ code: isFull ? 'too_many_processes' : 'process_tools_missing' });
}
