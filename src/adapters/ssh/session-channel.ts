import type { Readable } from 'node:stream';
import type { PseudoTtyInfo, ServerChannel, Session } from 'ssh2';
import { isPassedVariable, isSessionName, SESSION_VARIABLE, SSH_LIMITS } from '../../domain/terminals/ssh.ts';
import { MAIN_CONNECTION } from '../../domain/terminals/terminal.ts';
import {
  COMMAND_SIGNALS,
  type CommandSignal,
  type CommandTerminal,
  type ControlledCommand,
} from '../../ports/containers/inside/container-commands.ts';
import { ChannelOutput } from './channel-output.ts';
import { EXIT, type SessionClient } from './client.ts';
import { runOn } from './program-channel.ts';
import { showShell } from './shell-channel.ts';

type Request = {
  readonly env: Map<string, string>;
  terminal: CommandTerminal | null;
  isStarted: boolean;
  forwardsAgent: boolean;
  /** The session that the client named by its variable; null for `main`. */
  session: string | null;
  resize: (cols: number, rows: number) => Promise<void>;
  signal: (name: CommandSignal) => Promise<void>;
};

const MAX_CELLS = 1000;
const cells = (asked: number, usual: number): number =>
  asked >= 1 && asked <= MAX_CELLS ? Math.trunc(asked) : usual;

const TERM = /^[a-zA-Z0-9.+_-]{1,64}$/;
const USUAL_TERM = 'xterm-256color';

const terminalOf = ({ cols, rows, term }: PseudoTtyInfo & { readonly term?: string }): CommandTerminal => ({
  term: TERM.test(term ?? '') ? (term ?? USUAL_TERM) : USUAL_TERM,
  cols: cells(cols, 80),
  rows: cells(rows, 24),
});

const isSignal = (name: string): name is CommandSignal => COMMAND_SIGNALS.some((known) => known === name);

/** Serves one session channel: its settings first, then one program. `words`: why it cannot have one. */
export function serveSession(session: Session, client: SessionClient, words: string | null): void {
  const request: Request = {
    env: new Map(),
    terminal: null,
    isStarted: false,
    forwardsAgent: false,
    session: null,
    resize: async () => {},
    signal: async () => {},
  };
  session.on('pty', (accept, _reject, info) => {
    request.terminal = terminalOf(info);
    accept?.();
  });
  session.on('env', (accept, _reject, { key, val }) => {
    if (key === SESSION_VARIABLE) request.session = String(val);
    else if (isPassedVariable(key)) addVariable(request.env, key, String(val));
    accept?.();
  });
  session.on('auth-agent', (accept) => {
    request.forwardsAgent = true;
    accept?.();
  });
  session.on('window-change', (accept, _reject, { cols, rows }) => {
    accept?.();
    const { terminal } = request;
    if (terminal === null) return;
    request.terminal = { ...terminal, cols: cells(cols, terminal.cols), rows: cells(rows, terminal.rows) };
    void request.resize(request.terminal.cols, request.terminal.rows);
  });
  session.on('signal', (accept, _reject, { name }) => {
    accept?.();
    const short = name.replace(/^SIG/, '');
    if (isSignal(short)) void request.signal(short);
  });
  const start = (accept: () => ServerChannel, reject: () => void, serve: Serve): void => {
    if (request.isStarted) {
      reject?.();
      return;
    }
    request.isStarted = true;
    const channel = accept();
    channel.on('error', (err: Error) => client.log.info({ err }, 'an SSH channel failed'));
    serveProgram(channel, client, words, serve).catch((err: unknown) => {
      client.log.error({ err }, 'an SSH channel failed');
      channel.close();
    });
  };
  session.on('shell', (accept, reject) => start(accept, reject, shellOf(client, request)));
  session.on('exec', (accept, reject, { command }) =>
    start(accept, reject, commandOf(client, request, command)),
  );
  session.on('subsystem', (accept, reject, { name }) =>
    name === 'sftp' ? start(accept, reject, sftpOf(client)) : reject?.(),
  );
}

type Serve = (output: ChannelOutput) => Promise<void>;

async function serveProgram(
  channel: ServerChannel,
  { connection, carrier }: SessionClient,
  words: string | null,
  serve: Serve,
): Promise<void> {
  if (words === null && connection.container !== null)
    return await serve(new ChannelOutput(channel, carrier));
  refuseProgram(channel, words ?? '', connection.container === null ? EXIT.unknown : EXIT.failed);
}

function refuseProgram(channel: ServerChannel, words: string, exitCode: number = EXIT.failed): void {
  channel.stderr.write(`${words}\r\n`);
  channel.exit(exitCode);
  channel.end();
}

function addVariable(env: Map<string, string>, name: string, value: string): void {
  const bytes = [...env].reduce((sum, [key, text]) => sum + key.length + Buffer.byteLength(text), 0);
  const fits = bytes + name.length + Buffer.byteLength(value) <= SSH_LIMITS.variableBytes;
  if (env.size < SSH_LIMITS.variables && fits && !value.includes('\0')) env.set(name, value);
}

/** The program follows the window from now on, which may have changed since it began to open. */
function follow(request: Request, openedWith: CommandTerminal | null, resize: Request['resize']): void {
  request.resize = resize;
  const { terminal } = request;
  if (terminal !== null && terminal !== openedWith) void resize(terminal.cols, terminal.rows);
}

const commandOf =
  (client: SessionClient, request: Request, line: string | null): Serve =>
  async (output) => {
    const env = { ...Object.fromEntries(request.env), ...(await agentOf(client, request, output)) };
    const { terminal } = request;
    const start = (stdin: Readable) => client.programs.run(client.connection, { line, env, terminal, stdin });
    await runOn(output, client, start, (command: ControlledCommand) => {
      request.signal = command.signal;
      follow(request, terminal, command.resize);
    });
  };

const NO_AGENT = 'your SSH agent cannot be forwarded\r\n';

async function agentOf(client: SessionClient, request: Request, output: ChannelOutput) {
  if (!request.forwardsAgent) return {};
  const path = await client.agentSocket();
  if (path !== null) return { SSH_AUTH_SOCK: path };
  void output.write('stderr', NO_AGENT);
  return {};
}

/**
 * Without a terminal the shell reads its commands from the channel, as editors use it. One with the user's SSH agent is
 * not shown to others, and ends with its connection.
 */
const shellOf =
  (client: SessionClient, request: Request): Serve =>
  async (output) => {
    const { terminal, session, forwardsAgent } = request;
    if (terminal === null || (forwardsAgent && session === null))
      return await commandOf(client, request, null)(output);
    if (session !== null && !isSessionName(session)) return refuseProgram(output.channel, NO_SESSION);
    const shell = { session: session ?? MAIN_CONNECTION, size: terminal };
    await showShell(output, client, shell, (resize) => follow(request, terminal, resize));
  };

const NO_SESSION = `${SESSION_VARIABLE} takes 1 to 32 letters, digits, _ or -`;

const sftpOf =
  (client: SessionClient): Serve =>
  (output) =>
    runOn(output, client, (stdin) => client.programs.serveSftp(client.connection, stdin));
