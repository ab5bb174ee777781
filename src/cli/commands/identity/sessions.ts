import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findOne } from '../../values/find.ts';
import { ago } from '../../values/times.ts';

type Session = Schemas['Session'];

export const sessions = () => group('sessions', 'Your sign-ins', [list(), revoke(), revokeOthers()]);

const list = () =>
  command('ls', 'List your sign-ins of the last 30 days')
    .alias('list')
    .action(withCli(async (cli) => cli.print.list(await all(cli), SESSIONS)));

const revoke = () =>
  command('revoke', 'End a sign-in')
    .argument('[session]', 'its id, or the start of it')
    .option('--reason <text>', 'shown in the list of sign-ins')
    .action(
      withCli(async (cli, given, { reason }) => {
        const active = (await all(cli)).filter(({ revoked_at }) => revoked_at === null);
        const { id } = await findOne(cli, active, given, NAMED);
        cli.print.done(await cli.berth().sessions.revoke(id, reason), 'The session has ended.', id);
      }),
    );

const revokeOthers = () =>
  command('revoke-others', 'End all sign-ins but this one')
    .option('--reason <text>', 'shown in the list of sign-ins')
    .option('-y, --yes', 'do not ask')
    .action(
      withCli(async (cli, { reason, yes = false }) => {
        await cli.ask.confirm('End all your other sign-ins?', yes);
        const answer = await cli.berth().sessions.revokeOthers(reason);
        cli.print.done(answer, `${answer.count} sessions ended.`);
      }),
    );

const all = (cli: Cli): Promise<Session[]> =>
  cli.progress('Listing sessions', cli.berth().sessions.list().all());

const clientOf = ({ user_agent, ip_address }: Session): string => `${user_agent} from ${ip_address}`;

const NAMED = {
  what: 'session',
  id: ({ id }: Session) => id,
  names: (session: Session) => [clientOf(session)],
  list: 'berth sessions ls',
};

const SESSIONS: Shown<Session> = {
  columns: {
    id: ({ id }) => id,
    started: ({ created_at }) => ago(created_at),
    seen: ({ last_seen_at }) => ago(last_seen_at),
    state: ({ is_current, revoked_at, revoked_reason }) =>
      revoked_at === null ? (is_current ? 'this one' : 'active') : `ended: ${revoked_reason ?? 'revoked'}`,
    program: clientOf,
  },
  name: ({ id }) => id,
};
