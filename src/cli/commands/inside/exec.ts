import type { Container, ExecOptions } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { ProgramEnd, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { lostNote } from '../../exec/lost-note.ts';
import { showOnTerminal } from '../../exec/on-terminal.ts';
import { keepOutput, passOn } from '../../exec/passed.ts';
import { EXIT } from '../../exit-codes.ts';
import { rawTerminal } from '../../io/raw-terminal.ts';
import { findContainer } from '../../values/find.ts';
import { seconds } from '../../values/times.ts';
import { variables } from '../../values/variables.ts';

const HELP = `
Standard input, output and signals are passed on as they come, byte for byte. The command ends with the
program's exit code, or ${EXIT.timedOut} at its time limit. A second Ctrl-C ends the program. A lost connection
is continued for a minute; then the program ends. A service that is away is asked for half a minute.

Examples:
  berth exec dev -- npm test
  berth exec -e CI=1 --timeout 10m dev -- sh -c 'npm ci && npm test'
  berth exec dev -- psql < dump.sql
  tar c src | berth exec dev -- tar x
  berth exec -t dev -- vim notes.txt
`;

export const exec = () =>
  command('exec', 'Run a program in a container')
    .argument('<container>', 'its name or id')
    .argument('<command...>', 'the program and its arguments, after --')
    .addOption(variables())
    .option('-i, --stdin', 'pass standard input to it, which is the default')
    .option('-n, --no-stdin', 'pass no input to it, as in a loop that reads standard input itself')
    .option('-t, --tty', 'give it a terminal, as editors need')
    .option('-w, --workdir <folder>', 'its working folder, instead of /workspace')
    .option('--timeout <time>', 'end it after this time, such as 10m; at most 24h', seconds)
    .passThroughOptions()
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, words, { env, stdin = true, tty = false, workdir, timeout }) => {
        const program = words[0] === '--' ? words.slice(1) : words;
        if (tty && !stdin) throw usageError('--tty needs standard input.', 'Leave out --tty or --no-stdin.');
        if (tty && cli.print.form !== 'table')
          throw usageError("--output cannot collect a terminal's output.", 'Leave out --tty or --output.');
        const options = {
          env,
          ...(workdir !== undefined && { cwd: workdir }),
          ...(timeout !== undefined && { timeoutSeconds: timeout }),
        };
        const run = tty ? onTerminal : piped;
        const exitCode = await run(cli, () => findContainer(cli, given), program, options, stdin);
        throw new ProgramEnd(exitCode ?? EXIT.timedOut);
      }),
    );

type Run = (
  cli: Cli,
  find: () => Promise<Container>,
  program: readonly string[],
  options: ExecOptions,
  stdin: boolean,
) => Promise<number | null>;

const piped: Run = async ({ io, print }, find, program, options, stdin) => {
  const lost = lostNote(io);
  try {
    const running = await (await find()).exec(program, { ...options, stdin, onLost: lost.begin });
    lost.of(running);
    if (print.form !== 'json') return await passOn(running, io, stdin);
    const kept = await keepOutput(running, io, stdin);
    print.text(JSON.stringify(kept));
    return kept.exit_code;
  } finally {
    lost.end();
  }
};

const onTerminal: Run = async ({ io }, find, program, options) => {
  const raw = rawTerminal(io);
  if (raw === null) throw usageError('Standard input and output are not a terminal.', 'Leave out --tty.');
  const { TERM: term } = io.env;
  const isKnown = term !== undefined && /^[a-zA-Z0-9.+_-]{1,64}$/.test(term) && term !== 'dumb';
  const terminal = { ...raw.size(), ...(isKnown && { term }) };
  const lost = lostNote(io);
  const onLost: ExecOptions['onLost'] = (reason) =>
    raw.isRaw()
      ? raw.note('connection lost, reconnecting… Ctrl-C twice ends the command')
      : lost.begin(reason);
  try {
    const running = await (await find()).exec(program, { ...options, stdin: true, terminal, onLost });
    lost.of(running);
    return await showOnTerminal(running, raw, io);
  } finally {
    lost.end();
  }
};
