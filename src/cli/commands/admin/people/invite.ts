import { Option } from '@commander-js/extra-typings';
import { command, withCli } from '../../../command.ts';
import { confirmed } from '../../../values/confirmed.ts';
import { endTime, seconds } from '../../../values/times.ts';
import { printLink } from './print-link.ts';

const SECONDS_AN_HOUR = 3_600;

const HELP = `
Prints a link that makes one account, once. Send it by a channel that you trust.
  berth admin invite --tier pro --email ada@example.org --expires 3d
`;

export const invite = () =>
  command('invite', 'Invite a person by a link')
    .addOption(
      new Option('--role <role>', 'the role of the account; user if not given').choices([
        'user',
        'admin',
      ] as const),
    )
    .option('--tier <name>', "the tier of the account; the role's if not given")
    .option('--email <address>', 'the only address that may accept')
    .option('--username <name>', 'the only username that may accept')
    .option('--expires <time>', 'when the link ends, such as 12h or 3d; 7d if not given', seconds)
    .option('--account-ends <when>', 'when the account ends, such as 2027-03-31 or 90d', endTime)
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, { role, tier, email, username, expires, accountEnds }) => {
        const body = {
          ...(role !== undefined && { role }),
          ...(tier !== undefined && { tier }),
          ...(email !== undefined && { email }),
          ...(username !== undefined && { username }),
          ...(accountEnds !== undefined && { account_ends_at: accountEnds }),
          ...(expires !== undefined && { expires_in_hours: Math.ceil(expires / SECONDS_AN_HOUR) }),
        };
        const made = await confirmed(cli, (proof) =>
          cli.progress('Inviting', cli.berth().admin.invitations.create({ ...body, ...proof })),
        );
        printLink(cli, made, made.url, 'Send this link to the person. It is not shown again.');
      }),
    );
