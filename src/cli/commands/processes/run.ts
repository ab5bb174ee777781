import { usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { rawTerminal } from '../../io/raw-terminal.ts';
import { detachKeyOption } from '../../values/detach-key.ts';
import { findContainer } from '../../values/find.ts';
import { seconds } from '../../values/times.ts';
import { variables } from '../../values/variables.ts';
import { interact } from './interact.ts';

const HELP = `
The process keeps running when you leave, and when the service restarts.

Examples:
  berth run dev --name web -- npm run dev
  berth run -t dev -- python3              in a terminal, which the detach key leaves
`;

export const run = () =>
  command('run', 'Start a process in the background of a container')
    .argument('<container>', 'its name or id')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--name <name>', 'a name for it')
    .addOption(variables())
    .option('-w, --workdir <folder>', 'its working folder, instead of /workspace')
    .option('--timeout <time>', 'end it after this time, such as 10m; at most 7d', seconds)
    .option('-i, --stdin', 'keep its input open for berth attach --stdin')
    .option('-t, --tty', 'run it in a terminal, and attach yours to it')
    .addOption(detachKeyOption())
    .addHelpText('after', HELP)
    .action(
      withCli(
        async (cli, given, words, { name, env, workdir, timeout, stdin = false, tty = false, detachKey }) => {
          const raw = tty ? rawTerminal(cli.io) : null;
          if (tty && raw === null)
            throw usageError('Standard input and output are not a terminal.', 'Leave out --tty.');
          const container = await findContainer(cli, given);
          const input = raw === null ? { stdin } : { pty: raw.size() };
          const options = {
            env,
            ...input,
            ...(workdir !== undefined && { cwd: workdir }),
            ...(timeout !== undefined && { timeoutSeconds: timeout }),
            ...(name !== undefined && { name }),
          };
          const started = await cli.progress('Starting', container.processes.start(words, options));
          const { info } = started;
          const back = `berth attach ${container.name} ${info.name}`;
          if (raw !== null) return await interact(cli, started, { raw, detachKey, back });
          cli.print.done(info, `${info.name} is running. Follow its output: ${back}`, info.id);
        },
      ),
    );
