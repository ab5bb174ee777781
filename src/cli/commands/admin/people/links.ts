import { Argument, Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../../client/index.ts';
import type { Cli } from '../../../cli.ts';
import { command, group, withCli } from '../../../command.ts';
import type { Shown } from '../../../io/printer.ts';
import { findOne } from '../../../values/find.ts';
import { ago } from '../../../values/times.ts';

type Invitation = Schemas['Invitation'];
type ResetLink = Schemas['ResetLink'];

const onlyOpen = () => new Option('--open', 'only those that can still be used');

export const invitations = () =>
  group('invitations', 'Links that create an account', [
    command('ls', 'List the invitations')
      .alias('list')
      .addOption(onlyOpen())
      .action(withCli(async (cli, { open }) => cli.print.list(await allInvitations(cli, open), INVITATIONS))),
    command('rm', 'Withdraw an unused invitation')
      .alias('withdraw')
      .addArgument(new Argument('[invitation]', 'its id, email address or username'))
      .action(
        withCli(async (cli, given) => {
          const open = await allInvitations(cli, true);
          const found = await findOne(cli, open, given, {
            what: 'invitation',
            id: ({ id }) => id,
            names: ({ email, username }) => [email, username],
            list: 'berth admin invitations ls',
          });
          const answer = await cli.berth().admin.invitations.withdraw(found.id);
          cli.print.done(answer, 'The invitation is withdrawn.', found.id);
        }),
      ),
  ]);

export const resetLinks = () =>
  group('reset-links', 'Links that set a password, or remove the second factor', [
    command('ls', 'List the reset links')
      .alias('list')
      .addOption(onlyOpen())
      .action(withCli(async (cli, { open }) => cli.print.list(await allResetLinks(cli, open), RESET_LINKS))),
    command('rm', 'Withdraw an unused reset link')
      .alias('withdraw')
      .addArgument(new Argument('[link]', 'its id, or the username'))
      .action(
        withCli(async (cli, given) => {
          const open = await allResetLinks(cli, true);
          const found = await findOne(cli, open, given, {
            what: 'reset link',
            id: ({ id }) => id,
            names: ({ user }) => [user.username],
            list: 'berth admin reset-links ls',
          });
          const answer = await cli.berth().admin.resetLinks.withdraw(found.id);
          cli.print.done(answer, 'The link is withdrawn.', found.id);
        }),
      ),
  ]);

const thatAre = (open: boolean) => (open ? { state: 'open' as const } : {});

const allInvitations = (cli: Cli, open = false): Promise<Invitation[]> =>
  cli.progress('Listing invitations', cli.berth().admin.invitations.list(thatAre(open)).all());

const allResetLinks = (cli: Cli, open = false): Promise<ResetLink[]> =>
  cli.progress('Listing reset links', cli.berth().admin.resetLinks.list(thatAre(open)).all());

const ended = ({ state, expires_at, used_at, withdrawn_at }: Invitation | ResetLink): string =>
  state === 'open'
    ? `open, ends ${ago(expires_at)}`
    : `${state} ${ago(used_at ?? withdrawn_at ?? expires_at)}`;

const INVITATIONS: Shown<Invitation> = {
  columns: {
    for: ({ email, username }) => email ?? username ?? 'anybody',
    role: ({ role }) => role,
    tier: ({ tier }) => tier,
    state: ended,
    by: ({ created_by }) => created_by.username,
    user: ({ user }) => user?.username ?? '–',
    id: ({ id }) => id,
  },
  name: ({ id }) => id,
  empty: 'No invitations. Invite somebody: berth admin invite',
};

const RESET_LINKS: Shown<ResetLink> = {
  columns: {
    user: ({ user }) => user.username,
    resets: ({ kind }) => kind.replace('_', ' '),
    state: ended,
    by: ({ created_by }) => created_by.username,
    id: ({ id }) => id,
  },
  name: ({ id }) => id,
  empty: 'No reset links.',
};
