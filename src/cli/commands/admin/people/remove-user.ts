import { Option } from '@commander-js/extra-typings';
import { usageError } from '../../../cli-error.ts';
import { command, withCli } from '../../../command.ts';
import { confirmed } from '../../../values/confirmed.ts';
import { aUser, findUser, type User } from './find-user.ts';

const HELP = `
A user with containers is deleted only with --containers:
  delete    delete them as usual; their files are kept for the days that the server is set to
  transfer  give them to the user of --to, as they are
`;

export const remove = () =>
  command('rm', 'Delete a user')
    .alias('delete')
    .addArgument(aUser())
    .addOption(
      new Option('--containers <plan>', 'what becomes of the containers').choices([
        'delete',
        'transfer',
      ] as const),
    )
    .option('--to <user>', 'who gets the containers')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, { containers, to, yes = false }) => {
        const isTransfer = containers === 'transfer';
        if (isTransfer !== (to !== undefined))
          throw usageError('Give --to with --containers transfer, and only then.');
        const user = await findUser(cli, given);
        const newOwner = to === undefined ? null : await findUser(cli, to);
        await cli.ask.confirm(
          `Delete ${user.username}${wordsOf(user, newOwner)}? This cannot be undone.`,
          yes,
        );
        const plan = {
          ...(containers !== undefined && { containers }),
          ...(newOwner !== null && { to: newOwner.id }),
        };
        const answer = await confirmed(cli, (proof) =>
          cli.progress('Deleting', cli.berth().admin.users.delete(user.id, { ...plan, ...proof })),
        );
        const outcome = answer.deleted ? 'is deleted' : 'is signed out; the containers are being deleted';
        cli.print.done(answer, `${user.username} ${outcome}.`, user.username);
      }),
    );

function wordsOf({ containers }: User, newOwner: User | null): string {
  if (containers === 0) return '';
  const what = containers === 1 ? 'the container' : `the ${containers} containers`;
  return newOwner === null ? ` and ${what}` : `, and transfer ${what} to ${newOwner.username}`;
}
