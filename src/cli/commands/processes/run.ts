import { command, withCli } from '../../command.ts';
import { findContainer } from '../../values/find.ts';

export const run = () =>
  command('run', 'Start a process in the background of a container')
    .argument('<container>', 'its name or id')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--name <name>', 'a name for it')
    .option('--cwd <folder>', 'its working folder', '/workspace')
    .option('-i, --stdin', 'keep its input open for berth attach --stdin')
    .action(
      withCli(async (cli, given, words, { name, cwd, stdin = false }) => {
        const container = await findContainer(cli, given);
        const options = { cwd, stdin, ...(name !== undefined && { name }) };
        const { info } = await cli.progress('Starting', container.processes.start(words, options));
        cli.print.done(
          info,
          `${info.name} is running. Follow its output: berth attach ${container.name} ${info.name}`,
          info.id,
        );
      }),
    );
