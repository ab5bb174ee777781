import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Terminal, TerminalEnd } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { CliError, ProgramEnd, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { type RawTerminal, rawTerminal, SOFT_RESET } from '../../io/raw-terminal.ts';
import { writeTo } from '../../io/streams.ts';
import { findContainer } from '../../values/find.ts';

const HELP = `
The shell outlives the connection: after a lost line it goes on where it was, and it waits for you after the detach key.
It ends with the exit code of the shell.

Examples:
  berth shell dev
  berth shell dev --session build        a second shell beside the first
  berth shell dev --detach-key ctrl-]
`;

export const shell = () =>
  command('shell', 'Open a terminal in a container')
    .argument('[container]', 'its name or id')
    .option('--session <name>', 'which of its terminals', 'main')
    .option('--new', 'end what runs in it, and start anew')
    .option('--watch', 'only look')
    .option('--detach-key <key>', 'leaves it running, such as ctrl-]; or none', detachKey, 0x1c)
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, { session, new: fresh = false, watch = false, detachKey: key }) => {
        const raw = rawTerminal(cli.io);
        if (raw === null)
          throw usageError('This is not a terminal.', 'Run a program: berth exec NAME -- PROGRAM');
        const container = await findContainer(cli, given);
        const terminal = await container.terminal({
          size: raw.size(),
          session,
          fresh,
          watch,
          beforeRedraw: `${SOFT_RESET}\x1b[H\x1b[2J`,
          onState: ({ kind }) =>
            kind === 'waiting' && raw.isRaw() && raw.note('connection lost, coming back…'),
        });
        const end = await relay(cli, raw, terminal, key);
        report(cli, end, container.name);
      }),
    );

/** Until the terminal's end, whatever that is; this terminal is as before then. */
async function relay(
  cli: Cli,
  raw: RawTerminal,
  terminal: Terminal,
  key: number | null,
): Promise<TerminalEnd> {
  const stop = raw.begin({
    input: (bytes) => {
      const at = key === null ? -1 : bytes.indexOf(key);
      terminal.write(at === -1 ? bytes : bytes.subarray(0, at));
      if (at !== -1) terminal.detach();
    },
    resized: (size) => terminal.resize(size),
    ended: () => terminal.detach(),
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
  refused: 'The terminal is refused.',
};

function report({ talk }: Cli, { why, exitCode }: TerminalEnd, name: string): void {
  if (why === 'detached') {
    talk(`Left running. Return: berth shell ${name}`);
    return;
  }
  if (why === 'ended') throw new ProgramEnd(exitCode ?? 0);
  throw new CliError(WORDS[why] ?? why, { code: why });
}

/** `ctrl-\` as its byte; null for `none`. */
function detachKey(text: string): number | null {
  if (text === 'none') return null;
  const [, letter = ''] = /^ctrl-([a-z@[\\\]^_])$/i.exec(text) ?? [];
  if (letter === '') throw new InvalidArgumentError('Give a key such as ctrl-\\ or ctrl-], or none.');
  return letter.toUpperCase().charCodeAt(0) & 0x1f;
}
