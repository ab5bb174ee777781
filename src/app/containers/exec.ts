import { commandFaults } from '../../domain/containers/command.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Caller, Origin } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type {
  CommandRequest,
  ControlledCommand,
  TimedCommand,
} from '../../ports/containers/container-commands.ts';
import type { OutputRoom } from '../../ports/output-room.ts';
import { type CommandOutput, collectOutput } from './command-output.ts';
import { type AccessDeps, findRunning, refuseIfStopped, refuseIfUnknown } from './running-container.ts';

const MAX_OUTPUT_BYTES = 1_048_576;

/** Starts a command whose output is read while it runs. A caller that stops reading must `end` it. */
export const streamExec =
  (deps: AccessDeps) =>
  async (
    id: string,
    request: CommandRequest,
    caller: Caller,
    origin: Origin,
  ): Promise<Result<ControlledCommand, DomainError>> => {
    const found = await findRunning(deps, id, caller, 'change');
    if (!found.ok) return found;
    const fields = commandFaults(request);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const { container, handle } = found.value;
    const { dbId } = container;
    const [command = ''] = request.command;
    await Promise.all([
      deps.acts.record({ action: 'command_run', caller, origin, dbId, what: { command } }),
      deps.storage.repositories.containers.touch(dbId),
    ]);
    const used = await deps.uses.begin(container, 'command');
    const opening = deps.commands.open(handle, request).then((running) => ok(whileUsed(running, used)));
    opening.catch(used);
    return await refuseIfUnknown('command_outcome_unknown', refuseIfStopped(opening));
  };

/** Calls `over` at the command's end, which is also the end of its reader. */
const whileUsed = (running: ControlledCommand, over: () => void): ControlledCommand => ({
  events: untilOver(running.events, over),
  end: () => running.end().finally(over),
  signal: (name) => running.signal(name),
  resize: (cols, rows) => running.resize(cols, rows),
});

async function* untilOver<T>(events: AsyncIterable<T>, over: () => void): AsyncGenerator<T> {
  try {
    yield* events;
  } finally {
    over();
  }
}

/** Runs one command to its end or time limit; stdout and stderr are each cut at 1 MiB. */
export const execInContainer =
  (deps: AccessDeps) =>
  async (
    id: string,
    request: TimedCommand,
    room: OutputRoom,
    caller: Caller,
    origin: Origin,
  ): Promise<Result<CommandOutput, DomainError>> => {
    const running = await streamExec(deps)(id, request, caller, origin);
    if (!running.ok) return running;
    const { timeoutSeconds } = request;
    const limits = { timeoutSeconds, room, maxOutputBytes: MAX_OUTPUT_BYTES };
    return await refuseIfUnknown('command_outcome_unknown', collectOutput(running.value, limits).then(ok));
  };
