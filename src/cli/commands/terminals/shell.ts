import { Option } from '@commander-js/extra-typings';
import type { ConnectionState, Terminal, TerminalEnd, TerminalResume } from '../../../client/index.ts';
import type { ServerFrame } from '../../../protocol/terminal-frames.ts';
import type { Cli } from '../../cli.ts';
import { CliError, ProgramEnd, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { type RawTerminal, rawTerminal, SOFT_RESET } from '../../io/raw-terminal.ts';
import { writeTo } from '../../io/streams.ts';
import { leftTerminals } from '../../state/left-terminals.ts';
import { detachKeyOption } from '../../values/detach-key.ts';
import { findContainer } from '../../values/find.ts';

const MAIN = 'main';

const HELP = `
The shell outlives the connection: after a lost connection it continues where it was, and the detach key
leaves it running. The command ends with the exit code of the shell.

Examples:
  berth shell dev
  berth shell dev --session build        a second shell beside the first
  berth shell dev --detach-key ctrl-]
`;

export const shell = () =>
  command('shell', 'Open a terminal in a container')
    .argument('[container]', 'its name or id')
    .option('--session <name>', 'which of its terminals; all but main end a minute after they are left', MAIN)
    .addOption(new Option('--new', 'end what runs in it, and start a new shell').conflicts('watch'))
    .option('--watch', 'watch without typing')
    .addOption(detachKeyOption())
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, { session, new: fresh = false, watch = false, detachKey }) => {
        const raw = rawTerminal(cli.io);
        if (raw === null)
          throw usageError('This is not a terminal.', 'Run a program: berth exec NAME -- PROGRAM');
        const container = await findContainer(cli, given);
        const left = leftTerminals(cli.io.env);
        const key = [cli.berth().server, container.id, session].join(' ');
        const taken = watch ? null : left.take(key);
        const notes = notesOn(raw);
        const terminal = await container.terminal({
          size: raw.size(),
          session,
          fresh,
          watch,
          resume: fresh ? null : taken,
          onEmptyScreen: true,
          beforeRedraw: `${SOFT_RESET}\x1b[H\x1b[2J`,
          onState: notes.state,
          onFrame: notes.frame,
        });
        notes.of(terminal);
        const keep = (resume: TerminalResume | null): void => {
          if (!watch) left.keep(key, resume);
        };
        const end = await relay(cli, raw, terminal, { detachKey, keep });
        report(cli, end, container.name, session);
      }),
    );

/** Once the line is back, the screen is drawn again over what was said on it. */
const UNTIL_DRAWN_MS = 500;

/** Says on the screen that the line is lost, and what the service says. */
function notesOn(raw: RawTerminal) {
  let shown: Pick<Terminal, 'redraw'> | null = null;
  let hasLostLine = false;
  let drawnAtMs = 0;
  const say = (words: string): void => {
    if (raw.isRaw()) raw.note(words);
  };
  return {
    of: (terminal: Terminal): void => {
      shown = terminal;
    },
    state: ({ kind }: ConnectionState): void => {
      if (kind === 'waiting' && raw.isRaw()) {
        hasLostLine = true;
        say('connection lost, reconnecting…');
      } else if (kind === 'open' && hasLostLine) {
        hasLostLine = false;
        drawnAtMs = performance.now() + UNTIL_DRAWN_MS;
        shown?.redraw();
      }
    },
    frame: (frame: ServerFrame): void => {
      if (frame.type !== 'notice') return;
      const waitMs = Math.max(0, drawnAtMs - performance.now());
      setTimeout(() => say(frame.message), waitMs).unref();
    },
  };
}

type Leaving = {
  readonly detachKey: number | null;
  /** For the return to a terminal that was left. */
  readonly keep: (resume: TerminalResume | null) => void;
};

/** Until the remote terminal ends, for any reason. The user's own terminal is then restored. */
async function relay(
  cli: Cli,
  raw: RawTerminal,
  terminal: Terminal,
  { detachKey: key, keep }: Leaving,
): Promise<TerminalEnd> {
  const leave = (): void => keep(terminal.detach());
  const stop = raw.begin({
    input: (bytes) => {
      const at = key === null ? -1 : bytes.indexOf(key);
      terminal.write(at === -1 ? bytes : bytes.subarray(0, at));
      if (at !== -1) leave();
    },
    resized: (size) => terminal.resize(size),
    ended: leave,
  });
  try {
    for await (const output of terminal) await writeTo(cli.io.out, output);
    return await terminal.closed;
  } finally {
    stop();
  }
}

const WORDS: Readonly<Partial<Record<TerminalEnd['why'], string>>> = {
  replaced: 'The terminal was opened elsewhere.',
  closed: 'An administrator or the owner closed the terminal.',
  unauthorized: 'Your sign-in has ended.',
  collaboration_ended: 'The terminal is no longer shared with you.',
  deleted: 'The container was deleted.',
  stopped: 'The container was stopped.',
  refused: 'The server refused the terminal.',
};

function report({ notify }: Cli, { why, exitCode }: TerminalEnd, name: string, session: string): void {
  if (why === 'detached') {
    notify(
      session === MAIN
        ? `Left running. Return: berth shell ${name}`
        : `Left running for a minute. Return: berth shell ${name} --session ${session}`,
    );
    return;
  }
  if (why === 'ended') throw new ProgramEnd(exitCode ?? 0);
  throw new CliError(WORDS[why] ?? why, { code: why });
}
