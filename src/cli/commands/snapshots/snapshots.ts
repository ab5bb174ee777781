import { Argument } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findContainer, findOne } from '../../values/find.ts';
import { untilTaken } from '../../values/settled.ts';
import { sizeText } from '../../values/sizes.ts';
import { ago } from '../../values/times.ts';
import { labels } from '../../values/variables.ts';

type Snapshot = Schemas['Snapshot'];

export const snapshots = () =>
  group('snapshots', 'Copies of containers with their files', [list(), create(), remove(), restore()]);

const list = () =>
  command('ls', 'List your snapshots')
    .alias('list')
    .option('--container <name>', 'only those of this container')
    .option('--deleted', 'deleted ones that can be restored')
    .action(
      withCli(async (cli, { container, deleted = false }) => {
        const query = {
          ...(deleted && { deleted: 'true' as const }),
          ...(container !== undefined && { container: (await findContainer(cli, container)).id }),
        };
        const listing = cli.berth().snapshots.list(query).all();
        cli.print.list(await cli.progress('Listing snapshots', listing), deleted ? DELETED : SNAPSHOTS);
      }),
    );

const create = () =>
  command('create', 'Take a snapshot of a container; a running one is paused meanwhile')
    .argument('<container>', 'its name or id')
    .argument('<name>', 'of the snapshot: 1 to 64 letters, digits and hyphens')
    .option('--note <text>', 'what it is for')
    .addOption(labels())
    .action(
      withCli(async (cli, given, name, { note, label }) => {
        const container = await findContainer(cli, given);
        const body = { name, labels: label, ...(note !== undefined && { note }) };
        const taking = container.snapshot(body).then((taken) => untilTaken(cli.berth(), taken));
        const taken = await cli.progress(`Copying ${container.name}`, taking);
        const use = `Use it: berth create NAME --snapshot ${name}`;
        cli.print.done(taken, `${name} is taken: ${sizeText(mbOf(taken))}. ${use}`, name);
      }),
    );

const remove = () =>
  command('rm', 'Delete a snapshot; containers made from it stay')
    .alias('delete')
    .addArgument(new Argument('[snapshot]', 'its name or id'))
    .option('-y, --yes', 'do not ask')
    .action(
      withCli(async (cli, given, { yes = false }) => {
        const { id, name } = await findSnapshot(cli, given);
        await cli.ask.confirm(`Delete the snapshot ${name}?`, yes);
        cli.print.done(await cli.berth().snapshots.delete(id), `${name} is deleted.`, name);
      }),
    );

const restore = () =>
  command('restore', 'Undo the deletion of a snapshot')
    .addArgument(new Argument('[snapshot]', 'its name or id'))
    .option('--name <name>', 'another name, where its own is in use again')
    .action(
      withCli(async (cli, given, { name }) => {
        const found = await findSnapshot(cli, given, true);
        const body = name === undefined ? {} : { name };
        const restored = await cli.berth().snapshots.restore(found.id, body);
        cli.print.done(restored, `${restored.name} is restored.`, restored.name);
      }),
    );

/** The snapshot of a name or id; without one a person picks. `deleted`: of the deleted ones. */
export async function findSnapshot(cli: Cli, given: string | undefined, deleted = false): Promise<Snapshot> {
  const listing = cli.berth().snapshots.list(deleted ? { deleted: 'true' } : {});
  return await findOne(cli, await cli.progress('Listing snapshots', listing.all()), given, {
    what: deleted ? 'deleted snapshot' : 'snapshot',
    id: ({ id }) => id,
    names: ({ name }) => [name],
    list: deleted ? 'berth snapshots ls --deleted' : 'berth snapshots ls',
  });
}

const mbOf = ({ layer_mb, volume_mb }: Snapshot): number => layer_mb + volume_mb;

const SNAPSHOTS: Shown<Snapshot> = {
  columns: {
    name: ({ name }) => name,
    of: ({ container_name }) => container_name,
    status: ({ status }, style) => style(status === 'ready' ? 'green' : 'yellow', status),
    size: (snapshot) => sizeText(mbOf(snapshot)),
    taken: ({ created_at }) => ago(created_at),
    note: ({ note }) => note,
    id: ({ id }) => id,
  },
  name: ({ name }) => name,
  empty: 'No snapshots. Take one: berth snapshots create CONTAINER NAME',
};

const DELETED: Shown<Snapshot> = {
  columns: {
    ...SNAPSHOTS.columns,
    deleted: ({ deleted_at }) => (deleted_at === undefined ? '' : ago(deleted_at)),
  },
  name: ({ name }) => name,
  empty: 'No deleted snapshots that can be restored.',
};
