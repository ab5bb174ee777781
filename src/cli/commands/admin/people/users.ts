import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../../client/index.ts';
import type { Cli } from '../../../cli.ts';
import { usageError } from '../../../cli-error.ts';
import { command, group, withCli } from '../../../command.ts';
import type { Shown } from '../../../io/printer.ts';
import { confirmed } from '../../../values/confirmed.ts';
import { ago, endTime } from '../../../values/times.ts';
import { allUsers, aUser, findUser, type User } from './find-user.ts';
import { printLink } from './print-link.ts';
import { remove } from './remove-user.ts';

export const users = () =>
  group('users', 'Users, their tiers and roles', [
    list(),
    create(),
    set(),
    disable(),
    enable(),
    reset('password', 'reset-password', 'Create a link that sets a new password'),
    reset('second_factor', 'reset-second-factor', 'Create a link that removes the second factor'),
    remove(),
  ]);

const list = () =>
  command('ls', 'List all users')
    .alias('list')
    .action(withCli(async (cli) => cli.print.list(await allUsers(cli), USERS)));

const aRole = (words: string) => new Option('--role <role>', words).choices(['user', 'admin'] as const);

const rightsOf = (role?: User['role'], tier?: string, ends?: string | null) => ({
  ...(role !== undefined && { role }),
  ...(tier !== undefined && { tier }),
  ...(ends !== undefined && { ends_at: ends }),
});

const create = () =>
  command('create', 'Create a user; prints a link for the first password')
    .argument('<username>', 'the name to sign in with')
    .argument('<email>', 'the email address')
    .addOption(aRole('the role; user if not given'))
    .option('--tier <name>', "the tier; the role's if not given")
    .option('--ends <when>', 'when the account ends, such as 2027-03-31 or 30d', endTime)
    .action(
      withCli(async (cli, username, email, { role, tier, ends }) => {
        const given = rightsOf(role, tier, ends);
        const made = await confirmed(cli, (proof) =>
          cli.berth().admin.users.create({ username, email, ...given, ...proof }),
        );
        printLink(cli, made, made.link.url, `Send this link to ${username}. It is not shown again.`);
      }),
    );

const set = () =>
  command('set', "Change a user's tier, role or end")
    .addArgument(aUser())
    .option('--tier <name>', 'the tier, which sets the limits')
    .addOption(aRole('the role, which sets the rights'))
    .option('--ends <when>', 'when the account ends: a day, such as 2027-03-31, 30d, or never', endTime)
    .action(
      withCli(async (cli, given, { role, tier, ends }) => {
        const change = rightsOf(role, tier, ends);
        if (Object.keys(change).length === 0)
          throw usageError('No change was given.', 'For example: berth admin users set ada --tier pro');
        await update(cli, given, change, 'changed');
      }),
    );

const disable = () =>
  command('disable', 'End all sign-ins of a user, and allow no new ones')
    .addArgument(aUser())
    .option('--reason <text>', 'what the user reads when signing in')
    .action(
      withCli(async (cli, given, { reason }) => {
        const words = reason === undefined ? {} : { disabled_reason: reason };
        await update(cli, given, { disabled: true, ...words }, 'disabled');
      }),
    );

const enable = () =>
  command('enable', 'Let a disabled user sign in again')
    .addArgument(aUser())
    .option('--ends <when>', 'when the account ends: a day, such as 2027-03-31, 30d, or never', endTime)
    .action(
      withCli(async (cli, given, { ends }) => {
        const end = ends === undefined ? {} : { ends_at: ends };
        await update(cli, given, { disabled: false, ...end }, 'enabled');
      }),
    );

const reset = (kind: Schemas['ResetLink']['kind'], name: string, description: string) =>
  command(name, description)
    .addArgument(aUser())
    .action(
      withCli(async (cli, given) => {
        const { id, username } = await findUser(cli, given);
        const made = await confirmed(cli, (proof) => cli.berth().admin.users.reset(id, { kind, ...proof }));
        printLink(cli, made, made.url, `Send this link to ${username}. It works once, for a day.`);
      }),
    );

async function update(
  cli: Cli,
  given: string | undefined,
  change: Schemas['UserChangeRequest'],
  outcome: string,
): Promise<void> {
  const { id, username } = await findUser(cli, given);
  const changed = await confirmed(cli, (proof) =>
    cli.berth().admin.users.update(id, { ...change, ...proof }),
  );
  cli.print.done(changed, `${username} is ${outcome}.`, username);
}

function stateOf({ disabled_at, being_deleted, password_set, email, ends_at }: User): string {
  if (being_deleted) return 'being deleted';
  if (disabled_at !== null) return `disabled ${ago(disabled_at)}`;
  const state = password_set || email === null ? 'enabled' : 'has no password yet';
  return ends_at === null ? state : `${state}, ends ${ago(ends_at)}`;
}

const USERS: Shown<User> = {
  columns: {
    username: ({ username }) => username,
    email: ({ email }) => email ?? '–',
    role: ({ role }) => role,
    tier: ({ tier }) => tier,
    containers: ({ containers, max_containers }) => `${containers}/${max_containers}`,
    seen: ({ last_seen_at }) => ago(last_seen_at),
    created: ({ created_at }) => ago(created_at),
    state: stateOf,
    id: ({ id }) => id,
  },
  name: ({ username }) => username,
};
