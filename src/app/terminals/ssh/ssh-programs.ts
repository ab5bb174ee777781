import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { commandFaults } from '../../../domain/containers/command.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { destinationName, type SshDestination, type SshListening } from '../../../domain/terminals/ssh.ts';
import { type CloseReason, namedSession, type TerminalSize } from '../../../domain/terminals/terminal.ts';
import type {
  CommandTerminal,
  ContainerCommands,
  ContainerHelpers,
  ControlledCommand,
  InnerArrival,
  InnerConnection,
  InnerListener,
} from '../../../ports/containers/inside/container-commands.ts';
import type { AsyncResult } from '../../async-result.ts';
import { type ProgramStart, type StartProgram, whileUsed } from '../../containers/inside/exec.ts';
import type { OpenTerminal } from '../opening/open-terminal.ts';
import type { TerminalConnection } from '../terminal-connections.ts';
import type { Terminals } from '../terminals.ts';
import type { SshConnection } from './ssh-connections.ts';

export type SshProgramsDeps = {
  readonly start: StartProgram;
  readonly commands: ContainerCommands;
  readonly helpers: ContainerHelpers;
  readonly terminals: Pick<Terminals, 'admit' | 'open' | 'whyNotOpened'>;
};

export type SshCommand = {
  /** null: a shell that reads its commands from `stdin`. */
  readonly line: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly terminal: CommandTerminal | null;
  readonly stdin: Readable;
};

export type SshShell = { readonly session: string; readonly size: TerminalSize };

export type SshPrograms = ReturnType<typeof sshPrograms>;

/** What a connection's channels run in its container. */
export const sshPrograms = (deps: SshProgramsDeps) => ({
  /**
   * The screen of a session by its name, beside its other viewers. null when the client has left meanwhile. `not_opened`: the
   * container runs, but no shell started.
   */
  openShell: (connection: SshConnection, shell: SshShell, shown: TerminalConnection, gone: AbortSignal) =>
    openShell(deps, connection, shell, shown, gone),

  run: (connection: SshConnection, command: SshCommand) => runCommand(deps, connection, command),

  serveSftp(connection: SshConnection, stdin: Readable): AsyncResult<ControlledCommand> {
    const started = startOf(connection, { action: 'command_run', what: { command: 'sftp-server' } });
    return deps.start(started, async (handle, _container, ended) =>
      whileUsed(await deps.helpers.serveSftp(handle, stdin), ended),
    );
  },

  /** null when nothing listens there. */
  forward(
    connection: SshConnection,
    to: SshDestination,
    stdin: Readable,
  ): AsyncResult<InnerConnection | null> {
    return deps.start(forwardOf(connection, destinationName(to)), async (handle, _container, ended) =>
      whileOpen(await deps.helpers.connect(handle, to, stdin), ended),
    );
  },

  /** Accepts connections inside the container. null when the address cannot be had. */
  listen(connection: SshConnection, at: SshListening): AsyncResult<InnerListener | null> {
    return deps.start(listenerOf(connection, at), async (handle, _container, ended) =>
      whileOpen(await deps.helpers.listen(handle, at), ended),
    );
  },

  /** Connects a listener's arrival. null when it has gone. */
  accept(
    connection: SshConnection,
    at: SshListening,
    arrival: InnerArrival,
    stdin: Readable,
  ): AsyncResult<InnerConnection | null> {
    const started = listenerOf(connection, at);
    return deps.start(started, async (_handle, _container, ended) =>
      whileOpen(await arrival.connect(stdin), ended),
    );
  },
});

function runCommand(
  { start, commands }: SshProgramsDeps,
  connection: SshConnection,
  { line, env, terminal, stdin }: SshCommand,
): AsyncResult<ControlledCommand> {
  const fields = commandFaults({ command: [line ?? ''], env });
  if (Object.keys(fields).length > 0) return Promise.resolve(refuse({ code: 'validation_failed', fields }));
  const [command = ''] = line?.trim().split(/\s+/, 1) ?? ['shell'];
  const started = startOf(connection, { action: 'command_run', what: { command } });
  return start(started, async (handle, { shell }, ended) => {
    const running = await commands.open(handle, {
      command: line === null ? [shell, '-l'] : [shell, '-c', line],
      env: { SHELL: shell, ...env },
      ...(terminal === null ? {} : { terminal }),
      stdin,
      timeoutSeconds: null,
    });
    return whileUsed(running, ended);
  });
}

/** Calls `over` at the end of what was opened; at once when nothing was. */
function whileOpen<T extends { readonly closed: Promise<void> }>(
  opened: T | null,
  over: () => void,
): T | null {
  if (opened === null) over();
  else void opened.closed.then(over);
  return opened;
}

const forwardOf = (connection: SshConnection, port: string): ProgramStart => ({
  ...startOf(connection, { action: 'port_forwarded', what: { port } }),
  kind: 'port',
});

const listenerOf = (connection: SshConnection, at: SshListening): ProgramStart =>
  at.kind === 'private'
    ? { ...startOf(connection, { action: 'ssh_agent_forwarded', what: {} }), kind: 'port' }
    : forwardOf(connection, `remote ${destinationName(at)}`);

const startOf = ({ caller, origin, container }: SshConnection, act: ProgramStart['act']): ProgramStart => ({
  id: container?.dbId ?? '',
  caller,
  origin,
  act,
});

export type OpenedShell =
  | { readonly kind: 'opened'; readonly terminal: OpenTerminal }
  | { readonly kind: 'left' }
  | { readonly kind: 'failed'; readonly reason: CloseReason };

/** Unique in every process: another terminal with the same id would replace it. */
const newConnectionId = (): string => `ssh-${randomUUID().slice(0, 8)}`;

async function openShell(
  { terminals }: SshProgramsDeps,
  { caller, origin, container }: SshConnection,
  { session, size: { cols, rows } }: SshShell,
  shown: TerminalConnection,
  gone: AbortSignal,
): AsyncResult<OpenedShell> {
  const options = {
    connectionId: newConnectionId(),
    cols,
    rows,
    shows: namedSession(session),
    forceNew: false,
    record: false,
    viewOnly: false,
    resume: null,
  };
  const admitted = await terminals.admit(container?.dbId ?? '', options, caller, origin, gone);
  if (!admitted.ok) return admitted;
  const { grant, turn } = admitted.value;
  try {
    const terminal = await terminals.open(grant, shown, turn);
    return ok(terminal === null ? { kind: 'left' } : { kind: 'opened', terminal });
  } catch (error) {
    return ok({ kind: 'failed', reason: await terminals.whyNotOpened(grant, error) });
  }
}
