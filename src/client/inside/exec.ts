import { EXEC_PROTOCOL, subprotocols } from '../../protocol/subprotocols.ts';
import { randomKey } from '../random-key.ts';
import type { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { answerWithoutUpgrade } from '../socket/refusal.ts';
import type { OpenSocket } from '../socket/socket.ts';
import { ExecLink } from './exec-link.ts';
import type { ExecDial } from './exec-sockets.ts';
import { RunningCommand } from './running-command.ts';

export type ExecOptions = {
  /** Whether it takes input, until `closeInput`. */
  readonly stdin?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** `/workspace` by default. */
  readonly cwd?: string;
  /** When this is over, the command and its children are ended; at most 86400, no limit by default. */
  readonly timeoutSeconds?: number;
  /** Runs it in a terminal: all output is then stdout. `term` is the terminal's type, `xterm-256color` by default. */
  readonly terminal?: { readonly cols: number; readonly rows: number; readonly term?: string };
  /**
   * Called when the line is lost, or the service is away; the next attempt follows by itself. `reason`: what the service
   * answers; null without an answer.
   */
  readonly onLost?: (reason: BerthError | null) => unknown;
  /** Ends the command when aborted. */
  readonly signal?: AbortSignal;
};

const TERM = 'xterm-256color';

/** Starts a command; a string is run by `sh -c`. Resolves when it runs; throws a `BerthError` when it is refused. */
export async function openExec(
  requester: Requester,
  openSocket: OpenSocket,
  path: string,
  command: string | readonly string[],
  { stdin = false, env, cwd, timeoutSeconds, terminal, onLost, signal }: ExecOptions = {},
): Promise<RunningCommand> {
  signal?.throwIfAborted();
  const start = {
    type: 'start' as const,
    command: typeof command === 'string' ? ['sh', '-c', command] : command,
    env: env ?? null,
    workdir: cwd ?? null,
    timeout_seconds: timeoutSeconds ?? null,
    stdin,
    terminal: terminal === undefined ? null : { term: TERM, ...terminal },
    run: randomKey(),
  };
  const link = new ExecLink(dialOf(requester, openSocket, path), start, onLost);
  const stop = (): void => link.fail(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  void link.over.then(() => signal?.removeEventListener('abort', stop));
  await link.started;
  return new RunningCommand(link);
}

const dialOf = (requester: Requester, openSocket: OpenSocket, path: string): ExecDial => ({
  async open(listener) {
    const token = (await requester.token()) ?? '';
    return openSocket(`${requester.webSocketOrigin}${path}`, subprotocols(EXEC_PROTOCOL, token), listener);
  },
  refusal: () => answerWithoutUpgrade(requester, path),
});
