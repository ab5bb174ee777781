import type { Channel, ChannelHandlers, RequestOf, ResultOf } from '../../protocol/agent/index.ts';
import { ChannelWriter } from '../channel-writer.ts';
import { PseudoTerminal, type PseudoTerminalEnd } from '../shells/pseudo-terminal.ts';
import { type HostUser, userEnvironment } from '../user-environment.ts';

type Request = RequestOf<'exec'>;

export type TerminalCommand = {
  readonly user: HostUser;
  readonly request: Request;
  readonly cwd: string;
  readonly terminal: NonNullable<Request['terminal']>;
};

/** How long after SIGHUP, which a closing terminal sends, SIGKILL follows. */
const KILL_AFTER_MS = 5_000;

/** Answers a channel of kind `exec` by a command with a terminal, which ends with its channel. */
export function runInTerminal(
  { user, request, cwd, terminal: { term, cols, rows } }: TerminalCommand,
  channel: Channel,
): ChannelHandlers {
  const writer = new ChannelWriter(channel);
  const [file = '', ...args] = request.command;
  const env = userEnvironment(user, request.env);
  let last: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const pty = new PseudoTerminal(
    { file, args, env, cwd, term, cols, rows },
    {
      output(bytes) {
        pty.pause();
        last = last.then(() => writer.write(bytes, 1)).then(() => pty.resume());
      },
      ended(end) {
        clearTimeout(timer);
        void last.then(() => channel.finish(resultOf(end, isLate)));
      },
    },
  );
  channel.accept({ type: 'exec', pid: pty.pid, terminal: true });
  const end = (): void => {
    pty.kill('HUP');
    timer = setTimeout(() => pty.kill('KILL'), KILL_AFTER_MS);
  };
  if (request.timeout_seconds !== null)
    timer = setTimeout(() => {
      isLate = true;
      end();
    }, request.timeout_seconds * 1_000);
  return {
    data: (_stream, bytes) => pty.write(bytes, () => channel.consumed(bytes.length)),
    note(note) {
      if (note.type === 'resize') pty.resize(note.cols, note.rows);
      else if (note.type === 'signal') pty.signal(note.signal);
    },
    room: writer.wake,
    reset() {
      clearTimeout(timer);
      writer.wake();
      end();
    },
  };
}

const resultOf = ({ exitCode, signal }: PseudoTerminalEnd, isLate: boolean): ResultOf<'exec'> => ({
  type: 'exec',
  exit_code: isLate ? null : exitCode,
  signal,
  timed_out: isLate,
  cut: false,
});
