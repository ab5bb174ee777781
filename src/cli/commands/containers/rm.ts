import type { Cli } from '../../cli.ts';
import { command, withCli } from '../../command.ts';
import { findContainers, findDeleted } from '../../values/find.ts';

export const rm = () =>
  command('rm', 'Delete containers; they can be restored for some days')
    .alias('delete')
    .argument('[containers...]', 'names or ids')
    .option('-y, --yes', 'do not ask')
    .option('--purge', 'permanently delete containers that are deleted already')
    .action(
      withCli(async (cli, given, { yes = false, purge = false }) => {
        if (purge) return await purgeAll(cli, given, yes);
        const containers = await findContainers(cli, given);
        const names = containers.map(({ name }) => name).join(', ');
        await cli.ask.confirm(`Delete ${names}?`, yes);
        for (const { id, name } of containers) {
          const answer = await cli.progress(`Deleting ${name}`, cli.berth().containers.delete(id));
          cli.print.done(answer, `${name} is deleted. Undo: berth restore ${name}`, name);
        }
      }),
    );

async function purgeAll(cli: Cli, given: readonly string[], yes: boolean): Promise<void> {
  for (const each of given.length === 0 ? [undefined] : given) {
    const { db_id, name } = await findDeleted(cli, each);
    await cli.ask.confirm(`Delete ${name} and its files permanently? This cannot be undone.`, yes);
    const answer = await cli.progress(
      `Deleting ${name} permanently`,
      cli.berth().containers.purge(db_id, name),
    );
    cli.print.done(answer, `${name} is being permanently deleted.`, name);
  }
}
