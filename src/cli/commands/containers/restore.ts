import { command, withCli } from '../../command.ts';
import { findDeleted } from '../../values/find.ts';
import { CONTAINERS } from './ls.ts';

export const restore = () =>
  command('restore', 'Restore a deleted container with its files')
    .argument('[deleted]', 'its name or id: berth ls --deleted')
    .option('--start', 'start it as well')
    .action(
      withCli(async (cli, given, { start = false }) => {
        const { db_id, name } = await findDeleted(cli, given);
        const { containers } = cli.berth();
        await cli.progress(`Restoring ${name}`, containers.restore(db_id));
        if (start) await cli.progress(`Starting ${name}`, containers.start(db_id));
        cli.notify(start ? `${name} is running.` : `${name} is restored. Start it: berth start ${name}`);
        if (cli.print.form !== 'table') cli.print.one(await containers.get(db_id), CONTAINERS);
      }),
    );
