import { command, withCli } from '../../command.ts';
import { findContainers } from '../../values/find.ts';

export const start = () =>
  command('start', 'Start containers')
    .argument('[containers...]', 'names or ids')
    .action(
      withCli(async (cli, given) => {
        for (const container of await findContainers(cli, given)) {
          const answer = await cli.progress(
            `Starting ${container.name}`,
            cli.berth().containers.start(container.id),
          );
          cli.print.done(answer, `${container.name} is running.`, container.name);
        }
      }),
    );
