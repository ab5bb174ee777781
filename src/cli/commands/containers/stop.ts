import { command, withCli } from '../../command.ts';
import { findContainers } from '../../values/find.ts';

export const stop = () =>
  command('stop', 'Stop containers; their files stay')
    .argument('[containers...]', 'names or ids')
    .action(
      withCli(async (cli, given) => {
        for (const container of await findContainers(cli, given)) {
          const answer = await cli.progress(
            `Stopping ${container.name}`,
            cli.berth().containers.stop(container.id),
          );
          cli.print.done(answer, `${container.name} is stopped.`, container.name);
        }
      }),
    );
