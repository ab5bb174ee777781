import { commandFaults } from '../../domain/containers/command.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Caller, Origin } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import { type ExecRequest, type ExecResult, RuntimeBusy } from '../../ports/containers/container-runtime.ts';
import type { ActRecords } from '../audit/activity-records.ts';
import type { ContainerDeps } from './container-deps.ts';
import { findOwn, handleOf } from './find-container.ts';

const MAX_OUTPUT_BYTES = 1_048_576;

/** Runs one command to its end or time limit; stdout and stderr are each cut at 1 MiB. */
export const execInContainer =
  (deps: ContainerDeps & { readonly acts: Pick<ActRecords, 'record'> }) =>
  async (
    id: string,
    request: Omit<ExecRequest, 'maxOutputBytes'>,
    caller: Caller,
    origin: Origin,
  ): Promise<Result<ExecResult, DomainError>> => {
    const found = await findOwn(deps.storage.repositories, id, caller);
    if (!found.ok) return found;
    if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    const handle = handleOf(found.value);
    if (handle === null || found.value.state !== 'running') return refuse({ code: 'container_not_running' });
    const fields = commandFaults(request);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const { dbId } = found.value;
    const [command = ''] = request.command;
    await deps.acts.record({ action: 'command_run', caller, origin, dbId, what: { command } });
    const running = deps.runtime.exec(handle, { ...request, maxOutputBytes: MAX_OUTPUT_BYTES });
    const result = await running.then(ok, inItsTurn);
    if (result.ok) await deps.storage.repositories.containers.touch(dbId);
    return result;
  };

function inItsTurn(error: unknown): Result<never, DomainError> {
  if (error instanceof RuntimeBusy)
    return refuse({ code: error.code, retryAfterSeconds: error.retryAfterSeconds });
  throw error;
}
