import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../../cli-error.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { confirmed } from '../../values/confirmed.ts';
import { findOne } from '../../values/find.ts';
import { ago } from '../../values/times.ts';
import { CONTAINERS, DELETED, STATUSES } from '../containers/ls.ts';
import { findUser } from './people/find-user.ts';

type Container = Schemas['Container'];

export const containers = () =>
  group('containers', 'Containers of all users', [list(), stop(), remove(), restore(), give()]);

const anOwner = () => new Option('--owner <user>', 'only those of this user: a username or id');

const list = () =>
  command('ls', 'List the containers of all users')
    .alias('list')
    .addOption(anOwner())
    .addOption(new Option('--status <status>', 'only those with this status').choices(STATUSES))
    .option('--search <text>', "only those with this in their name, owner's name, image or toolset")
    .option('--deleted', 'only the deleted ones that can still be restored')
    .action(
      withCli(async (cli, { owner, status, search, deleted = false }) => {
        const query = {
          ...(owner !== undefined && { owner }),
          ...(status !== undefined && { status }),
          ...(search !== undefined && { q: search }),
          ...(deleted && { deleted: 'true' as const }),
        };
        cli.print.list(await all(cli, query), deleted ? OF_DELETED : OF_ALL);
      }),
    );

const aContainer = 'its name, OWNER/NAME, or id: berth admin containers ls';

const stop = () =>
  command('stop', "Stop a user's container; its files stay")
    .argument('[user-container]', aContainer)
    .action(
      withCli(async (cli, given) => {
        const { db_id, name, owner } = await find(cli, given);
        const answer = await cli.progress(`Stopping ${name}`, cli.berth().admin.containers.stop(db_id));
        cli.print.done(answer, `${name} of ${owner.username} is stopped.`, db_id);
      }),
    );

const remove = () =>
  command('rm', "Delete a user's container; it can be restored for some days")
    .alias('delete')
    .argument('[user-container]', aContainer)
    .option('-y, --yes', 'do not ask')
    .action(
      withCli(async (cli, given, { yes = false }) => {
        const { db_id, name, owner } = await find(cli, given);
        await cli.ask.confirm(`Delete ${name} of ${owner.username}?`, yes);
        const answer = await confirmed(cli, (proof) =>
          cli.progress(`Deleting ${name}`, cli.berth().admin.containers.delete(db_id, proof)),
        );
        const undo = `berth admin containers restore ${db_id}`;
        cli.print.done(answer, `${name} of ${owner.username} is deleted. Undo: ${undo}`, db_id);
      }),
    );

const restore = () =>
  command('restore', 'Restore a deleted container to its owner')
    .argument('[deleted]', 'its name, OWNER/NAME, or id: berth admin containers ls --deleted')
    .action(
      withCli(async (cli, given) => {
        const { db_id, name, owner } = await find(cli, given, true);
        const answer = await cli.progress(`Restoring ${name}`, cli.berth().admin.containers.restore(db_id));
        cli.print.done(answer, `${name} of ${owner.username} is restored.`, db_id);
      }),
    );

const GIVE_HELP = `
The container is stopped and belongs to the other user from then on, with its files, installed software, environment
variables and processes. Shares end. Snapshots and recordings stay with the users who made them.
`;

const give = () =>
  command('give', "Give a user's container to another user")
    .argument('[user-container]', aContainer)
    .option('--to <user>', 'the new owner: a username, email address or id')
    .option('--name <name>', 'its name from then on')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', GIVE_HELP)
    .action(
      withCli(async (cli, given, { to, name, yes = false }) => {
        if (to === undefined && !cli.ask.possible) throw usageError('Give --to.');
        const container = await find(cli, given);
        const { db_id, name: before, owner } = container;
        const receiver = await findUser(cli, to);
        await cli.ask.confirm(
          `Stop ${before} of ${owner.username} and give it to ${receiver.username}?`,
          yes,
        );
        const wanted = { to: receiver.id, ...(name !== undefined && { name }) };
        const answer = await confirmed(cli, (proof) =>
          cli.progress(
            `Giving ${before}`,
            cli.berth().admin.containers.transfer(db_id, { ...wanted, ...proof }),
          ),
        );
        cli.print.done(answer, `${answer.name} belongs to ${receiver.username}.`, db_id);
      }),
    );

type Query = Parameters<ReturnType<Cli['berth']>['admin']['containers']['list']>[0];

async function all(cli: Cli, query: Query = {}): Promise<Container[]> {
  const listing = cli.berth().admin.containers.list(query).all();
  const key = ({ owner, name }: Container): string => `${owner.username}/${name}`;
  return (await cli.progress('Listing containers', listing)).toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

const find = async (cli: Cli, given: string | undefined, deleted = false): Promise<Container> =>
  findOne(cli, await all(cli, deleted ? { deleted: 'true' } : {}), given, {
    what: deleted ? 'deleted container' : 'container',
    id: ({ db_id }) => db_id,
    names: ({ name, owner }) => [`${owner.username}/${name}`, name],
    list: `berth admin containers ls${deleted ? ' --deleted' : ''}`,
  });

const id = ({ db_id }: Container): string => db_id;

const OF_ALL: Shown<Container> = {
  columns: { owner: ({ owner }) => owner.username, ...withoutOwner(CONTAINERS.columns), id },
  name: id,
  empty: 'No containers.',
};

const OF_DELETED: Shown<Container> = {
  columns: {
    owner: ({ owner }) => owner.username,
    name: DELETED.columns['name'] ?? id,
    image: ({ image }) => image,
    deleted: ({ deleted_at }) => ago(deleted_at),
    'permanently deleted': ({ kept_until }) => ago(kept_until),
    id,
  },
  name: id,
  empty: 'Nothing to restore.',
};

function withoutOwner({ owner: _, ...others }: Shown<Container>['columns']): Shown<Container>['columns'] {
  return others;
}
