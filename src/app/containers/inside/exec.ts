import type { Act } from '../../../domain/activity.ts';
import { commandFaults } from '../../../domain/containers/command.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { ActivityKind } from '../../../domain/containers/lifetime/activity.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type {
  CommandRequest,
  ControlledCommand,
  TimedCommand,
} from '../../../ports/containers/inside/container-commands.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import type { AsyncResult } from '../../async-result.ts';
import { type CommandOutput, collectOutput } from './command-output.ts';
import { type AccessDeps, findRunning, refuseIfStopped, refuseIfUnknown } from './running-container.ts';

const MAX_OUTPUT_BYTES = 1_048_576;

/** Who starts a program, and the record of it. */
export type ProgramStart = {
  readonly id: string;
  readonly caller: Caller;
  readonly origin: RequestOrigin;
  readonly act: Pick<Act, 'action' | 'what'>;
  /** How it uses the container; `command` by default. */
  readonly kind?: ActivityKind;
};

export type StartProgram = ReturnType<typeof startProgram>;

/**
 * Starts a program in the caller's running container, once it is on record. It uses the container until `ended` is
 * called. A caller that stops reading must `end` it.
 */
export const startProgram =
  (deps: Pick<AccessDeps, 'storage' | 'acts' | 'clock' | 'uses'>) =>
  async <T>(
    { id, caller, origin, act, kind = 'command' }: ProgramStart,
    open: (handle: RuntimeHandle, container: Container, ended: () => void) => Promise<T>,
  ): AsyncResult<T> => {
    const found = await findRunning(deps, id, caller, 'change');
    if (!found.ok) return found;
    const { container, handle } = found.value;
    const { dbId } = container;
    await Promise.all([
      deps.acts.record({ ...act, caller, origin, dbId }),
      deps.storage.repositories.containers.touch(dbId),
    ]);
    const ended = await deps.uses.begin(container, kind);
    const opening = open(handle, container, ended).then((opened) => ok(opened));
    opening.catch(ended);
    return await refuseIfUnknown('command_outcome_unknown', refuseIfStopped(opening));
  };

/** Refuses a caller who may not run commands in the container now. */
export const mayExec =
  (deps: Pick<AccessDeps, 'storage' | 'clock'>) =>
  async (id: string, caller: Caller): AsyncResult<null> => {
    const found = await findRunning(deps, id, caller, 'change');
    return found.ok ? ok(null) : found;
  };

/** Starts a command whose output is read while it runs. A caller that stops reading must `end` it. */
export const streamExec =
  (deps: AccessDeps) =>
  async (
    id: string,
    request: CommandRequest,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<ControlledCommand> => {
    const fields = commandFaults(request);
    if (Object.keys(fields).length > 0) {
      const found = await findRunning(deps, id, caller, 'change');
      return found.ok ? refuse({ code: 'validation_failed', fields }) : found;
    }
    const [command = ''] = request.command;
    const act = { action: 'command_run', what: { command } } as const;
    return await startProgram(deps)({ id, caller, origin, act }, async (handle, _container, ended) =>
      whileUsed(await deps.commands.open(handle, request), ended),
    );
  };

/** Calls `over` at the command's end, which is also the end of its reader. */
export const whileUsed = (running: ControlledCommand, over: () => void): ControlledCommand => ({
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
    origin: RequestOrigin,
  ): AsyncResult<CommandOutput> => {
    const running = await streamExec(deps)(id, request, caller, origin);
    if (!running.ok) return running;
    const { timeoutSeconds } = request;
    const limits = { timeoutSeconds, room, maxOutputBytes: MAX_OUTPUT_BYTES };
    return await refuseIfUnknown('command_outcome_unknown', collectOutput(running.value, limits).then(ok));
  };
