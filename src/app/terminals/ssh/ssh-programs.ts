import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { commandFaults } from '../../../domain/containers/command.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { destinationName, type SshDestination } from '../../../domain/terminals/ssh.ts';
import type { CloseReason, TerminalSize } from '../../../domain/terminals/terminal.ts';
import type {
  CommandTerminal,
  ContainerCommands,
  ContainerHelpers,
  ControlledCommand,
  InnerConnection,
} from '../../../ports/containers/container-commands.ts';
import { type ProgramStart, type StartProgram, whileUsed } from '../../containers/exec.ts';
import type { OpenTerminal } from '../open-terminal.ts';
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

export type SshPrograms = ReturnType<typeof sshPrograms>;

/** What a connection's channels run in its container. */
export const sshPrograms = (deps: SshProgramsDeps) => ({
  /**
   * The main session's screen, beside the browser's. null when the client has left meanwhile. `not_opened`: the
   * container runs, but no shell started.
   */
  openShell: (connection: SshConnection, size: TerminalSize, shown: TerminalConnection, gone: AbortSignal) =>
    openShell(deps, connection, size, shown, gone),

  run(
    connection: SshConnection,
    { line, env, terminal, stdin }: SshCommand,
  ): Promise<Result<ControlledCommand, DomainError>> {
    const fields = commandFaults({ command: [line ?? ''], env });
    if (Object.keys(fields).length > 0) return Promise.resolve(refuse({ code: 'validation_failed', fields }));
    const [command = ''] = line?.trim().split(/\s+/, 1) ?? ['shell'];
    const started = startOf(connection, { action: 'command_run', what: { command } });
    return deps.start(started, async (handle, { shell }, ended) => {
      const running = await deps.commands.open(handle, {
        command: line === null ? [shell, '-l'] : [shell, '-c', line],
        env: { SHELL: shell, ...env },
        ...(terminal === null ? {} : { terminal }),
        stdin,
        timeoutSeconds: null,
      });
      return whileUsed(running, ended);
    });
  },

  serveSftp(connection: SshConnection, stdin: Readable): Promise<Result<ControlledCommand, DomainError>> {
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
  ): Promise<Result<InnerConnection | null, DomainError>> {
    const act = { action: 'port_forwarded', what: { port: destinationName(to) } } as const;
    return deps.start({ ...startOf(connection, act), kind: 'port' }, async (handle, _container, ended) => {
      const opened = await deps.helpers.connect(handle, to, stdin);
      if (opened === null) ended();
      else void opened.closed.then(ended);
      return opened;
    });
  },
});

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
  { cols, rows }: TerminalSize,
  shown: TerminalConnection,
  gone: AbortSignal,
): Promise<Result<OpenedShell, DomainError>> {
  const options = {
    ...{ connectionId: newConnectionId(), cols, rows, sharesMain: true },
    ...{ forceNew: false, record: false, viewOnly: false, resume: null },
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
