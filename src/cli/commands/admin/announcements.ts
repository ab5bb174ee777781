import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findOne } from '../../values/find.ts';
import { ago, seconds } from '../../values/times.ts';

type Announcement = Schemas['AdminAnnouncement'];

const HELP = `
Everybody who is signed in sees it at once, in the page and by berth whoami.
  berth admin announcements add "Berth restarts at 22:00." --severity warning --for 6h
  berth admin announcements add "The new image is here." --in 2d --for 1w
`;

export const announcements = () =>
  group('announcements', 'Announcements to everybody', [list(), add(), remove()]);

const list = () =>
  command('ls', 'List the announcements, scheduled and ended ones too')
    .alias('list')
    .action(withCli(async (cli) => cli.print.list(await all(cli), ANNOUNCEMENTS)));

const add = () =>
  command('add', 'Announce something to everybody')
    .argument('<text>', 'one line of plain text')
    .addOption(new Option('--severity <severity>', 'info if not given').choices(['info', 'warning'] as const))
    .option('--in <time>', 'when it appears, such as 2h or 1d; at once if not given', seconds)
    .option('--for <time>', 'how long it stays, such as 2h or 1d; until it is deleted if not given', seconds)
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, text, { severity, in: startsIn, for: lasts }) => {
        const startMs = Date.now() + (startsIn ?? 0) * 1_000;
        const body = {
          text,
          ...(severity !== undefined && { severity }),
          ...(startsIn !== undefined && { starts_at: new Date(startMs).toISOString() }),
          ...(lasts !== undefined && { ends_at: new Date(startMs + lasts * 1_000).toISOString() }),
        };
        const made = await cli.progress('Announcing', cli.berth().admin.announcements.create(body));
        cli.print.done(made, made.state === 'scheduled' ? 'It is scheduled.' : 'It is announced.', made.id);
      }),
    );

const remove = () =>
  command('rm', 'Delete an announcement')
    .argument('[announcement]', 'its id, or the start of it')
    .action(
      withCli(async (cli, given) => {
        const { id } = await findOne(cli, await all(cli), given, {
          what: 'announcement',
          id: (announcement) => announcement.id,
          names: ({ text }) => [text],
          list: 'berth admin announcements ls',
        });
        const deleted = await cli.berth().admin.announcements.delete(id);
        cli.print.done(deleted, 'The announcement is deleted.', id);
      }),
    );

const all = (cli: Cli): Promise<Announcement[]> =>
  cli.progress('Listing announcements', cli.berth().admin.announcements.list());

const ANNOUNCEMENTS: Shown<Announcement> = {
  columns: {
    id: ({ id }) => id,
    state: ({ state }) => state,
    severity: ({ severity }) => severity,
    starts: ({ starts_at }) => ago(starts_at),
    ends: ({ ends_at }) => ago(ends_at),
    text: ({ text }) => text,
  },
  name: ({ id }) => id,
  empty: 'Nothing is announced.',
};
