import type { Container } from '../../../domain/containers/container.ts';
import { type Caller, isLocked } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Clock } from '../../../ports/clock.ts';
import {
  ContainerNotRunning,
  ContainerPaused,
  NotOffered,
  OutcomeUnknown,
  RightMissing,
  RuntimeBusy,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import type { ContainerCommands } from '../../../ports/containers/inside/container-commands.ts';
import type { ContainerFiles } from '../../../ports/containers/inside/container-files.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';
import type { Storage } from '../../../ports/storage.ts';
import { TerminalNotStarted } from '../../../ports/terminals/terminal-backend.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { ActRecords } from '../../audit/activity-records.ts';
import { findOwn, handleOf } from '../find-container.ts';
import type { ContainerUses } from '../lifetime/container-uses.ts';

export type AccessDeps = {
  readonly storage: Storage;
  readonly commands: ContainerCommands;
  readonly files: ContainerFiles;
  readonly insight: ContainerInsight;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly acts: Pick<ActRecords, 'record'>;
  readonly uses: Pick<ContainerUses, 'begin'>;
};

export type ContainerWithHandle = { readonly container: Container; readonly handle: RuntimeHandle };

const notRunning = refuse({ code: 'container_not_running' } as const);

/** The caller's container and its engine handle, running or not. */
export async function findWithHandle(
  { storage }: Pick<AccessDeps, 'storage'>,
  id: string,
  caller: Caller,
): AsyncResult<ContainerWithHandle> {
  const found = await findOwn(storage.repositories, id, caller);
  if (!found.ok) return found;
  const handle = handleOf(found.value);
  return handle === null ? notRunning : ok({ container: found.value, handle });
}

/** The caller's running container. Expired guests may read and delete, but change nothing. */
export async function findRunning(
  deps: Pick<AccessDeps, 'storage' | 'clock'>,
  id: string,
  caller: Caller,
  wants: 'read' | 'change',
): AsyncResult<ContainerWithHandle> {
  const found = await findOwn(deps.storage.repositories, id, caller);
  if (!found.ok) return found;
  if (wants === 'change' && guestExpired(caller.user, deps.clock.now())) {
    return refuse({ code: 'guest_session_expired' });
  }
  const handle = handleOf(found.value);
  if (handle === null || found.value.state !== 'running') return notRunning;
  return ok({ container: found.value, handle });
}

/** Whether something started earlier may continue, given its caller's present state. */
export const mayContinue =
  ({ clock }: Pick<AccessDeps, 'clock'>, wants: 'read' | 'change') =>
  (now: Caller): boolean =>
    !isLocked(now) && !(wants === 'change' && guestExpired(now.user, clock.now()));

/**
 * Turns engine errors into refusals: of a container that is paused or ended behind the row's back, one at its process
 * limit, work whose turn did not come, a right that the service lacks, and what agents do not have.
 */
export async function refuseIfStopped<T>(work: AsyncResult<T>): AsyncResult<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RuntimeBusy)
      return refuse({ code: error.code, retryAfterSeconds: error.retryAfterSeconds });
    if (error instanceof RightMissing) return refuse({ code: 'engine_right_missing', right: error.right });
    if (error instanceof TerminalNotStarted && error.fault === 'no_processes')
      return refuse({ code: 'too_many_processes' });
    if (error instanceof NotOffered)
      return refuse({ code: error.by === 'agent' ? 'not_for_agents' : 'not_offered_by_engine' });
    if (error instanceof ContainerPaused) return refuse({ code: 'container_paused' });
    if (error instanceof ContainerNotRunning) return notRunning;
    throw error;
  }
}

/** Turns a connection that broke during a change into a refusal: a repeat could do it twice. */
export async function refuseIfUnknown<T>(
  code: 'command_outcome_unknown' | 'file_outcome_unknown' | 'process_outcome_unknown',
  work: AsyncResult<T>,
): AsyncResult<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof OutcomeUnknown) return refuse({ code });
    throw error;
  }
}
