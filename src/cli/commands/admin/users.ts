import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../../cli-error.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findOne } from '../../values/find.ts';
import { ago } from '../../values/times.ts';

type User = Schemas['User'];

export const users = () => group('users', 'Users, their tiers and roles', [list(), set()]);

const list = () =>
  command('ls', 'List all users')
    .alias('list')
    .action(withCli(async (cli) => cli.print.list(await all(cli), USERS)));

const set = () =>
  command('set', "Change a user's tier or role, or disable or enable the account")
    .argument('[user]', 'a username, email address or id')
    .option('--tier <name>', 'the tier, which sets the limits')
    .addOption(
      new Option('--role <role>', 'the role, which sets the rights').choices(['user', 'admin'] as const),
    )
    .option('--disable', 'end all sign-ins, and allow no new ones')
    .option('--enable', 'undo --disable')
    .action(
      withCli(async (cli, given, { tier, role, disable = false, enable = false }) => {
        if (disable && enable) throw usageError('--disable and --enable exclude each other.');
        const change = {
          ...(tier !== undefined && { tier }),
          ...(role !== undefined && { role }),
          ...((disable || enable) && { disabled: disable }),
        };
        if (Object.keys(change).length === 0) throw usageError('No change was given.');
        const { id, username } = await findOne(cli, await all(cli), given, {
          what: 'user',
          id: (user) => user.id,
          names: (user) => [user.username, user.email],
          list: 'berth admin users ls',
        });
        cli.print.done(await cli.berth().admin.users.update(id, change), `${username} is changed.`, username);
      }),
    );

const all = (cli: Cli): Promise<User[]> =>
  cli.progress('Listing users', cli.berth().admin.users.list().all());

const USERS: Shown<User> = {
  columns: {
    username: ({ username }) => username,
    email: ({ email }) => email ?? '–',
    role: ({ role }) => role,
    tier: ({ tier }) => tier,
    created: ({ created_at }) => ago(created_at),
    state: ({ disabled_at }) => (disabled_at === null ? 'enabled' : `disabled ${ago(disabled_at)}`),
    id: ({ id }) => id,
  },
  name: ({ username }) => username,
};
