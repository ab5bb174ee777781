import { commandFaults } from '../../domain/containers/command.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Caller, Origin } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { CommandRequest, RunningCommand } from '../../ports/containers/container-commands.ts';
import { type AccessDeps, findRunning, refuseIfStopped } from './running-container.ts';

/** Starts a command with streamed output. A caller that leaves must `end` it. */
export const streamExec =
  (deps: AccessDeps) =>
  async (
    id: string,
    request: CommandRequest,
    caller: Caller,
    origin: Origin,
  ): Promise<Result<RunningCommand, DomainError>> => {
    const found = await findRunning(deps, id, caller, 'change');
    if (!found.ok) return found;
    const fields = commandFaults(request);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const { container, handle } = found.value;
    const { dbId } = container;
    const [command = ''] = request.command;
    await deps.acts.record({ action: 'command_run', caller, origin, dbId, what: { command } });
    await deps.storage.repositories.containers.touch(container.dbId);
    return await refuseIfStopped(deps.commands.open(handle, request).then(ok));
  };
