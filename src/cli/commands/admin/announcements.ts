import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../../cli-error.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findOne } from '../../values/find.ts';
import { ago, seconds } from '../../values/times.ts';

type Announcement = Schemas['AdminAnnouncement'];

const AN_ANNOUNCEMENT = 'its id, or the start of it';

const HELP = `
Everybody who is signed in sees it at once, in the page and by berth whoami.
  berth admin announcements add "Berth restarts at 22:00." --severity warning --for 6h
  berth admin announcements add "The new image is here." --in 2d --for 1w
`;

const EDIT_HELP = `
What is not given stays as it is. Who has dismissed the announcement sees it again.
  berth admin announcements edit 0c9e --text "Berth restarts at 23:00." --for 7h
  berth admin announcements edit 0c9e --no-end
`;

export const announcements = () =>
  group('announcements', 'Announcements to everybody', [list(), add(), edit(), remove()]);

const list = () =>
  command('ls', 'List the announcements, scheduled and ended ones too')
    .alias('list')
    .action(withCli(async (cli) => cli.print.list(await all(cli), ANNOUNCEMENTS)));

const add = () =>
  command('add', 'Show an announcement to everybody')
    .argument('<text>', 'one line of plain text')
    .addOption(new Option('--severity <severity>', 'info if not given').choices(['info', 'warning'] as const))
    .option('--in <time>', 'when it appears, such as 2h or 1d; at once if not given', seconds)
    .option('--for <time>', 'how long it stays, such as 2h or 1d; until it is deleted if not given', seconds)
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, text, { severity, in: startsIn, for: lasts }) => {
        const body = {
          text,
          ...(severity !== undefined && { severity }),
          ...timesOf({ startsIn, lasts, startsAt: null }),
        };
        const made = await cli.progress('Announcing', cli.berth().admin.announcements.create(body));
        const outcome = made.state === 'scheduled' ? 'scheduled' : 'shown to everybody';
        cli.print.done(made, `The announcement is ${outcome}.`, made.id);
      }),
    );

const edit = () =>
  command('edit', 'Change an announcement')
    .argument('[announcement]', AN_ANNOUNCEMENT)
    .option('--text <text>', 'one line of plain text')
    .addOption(new Option('--severity <severity>', 'how it looks').choices(['info', 'warning'] as const))
    .option('--in <time>', 'when it appears, such as 2h or 1d', seconds)
    .option('--for <time>', 'how long it stays from now, or from when it appears', seconds)
    .option('--no-end', 'it stays until it is deleted')
    .addHelpText('after', EDIT_HELP)
    .action(
      withCli(async (cli, given, { text, severity, in: startsIn, for: lasts, end }) => {
        if (lasts !== undefined && !end) throw usageError('Give --for or --no-end, not both.');
        if ([text, severity, startsIn, lasts].every((part) => part === undefined) && end)
          throw usageError('Give what changes: --text, --severity, --in, --for or --no-end.');
        const { id, starts_at } = await find(cli, given);
        const body = {
          ...(text !== undefined && { text }),
          ...(severity !== undefined && { severity }),
          ...timesOf({ startsIn, lasts, startsAt: starts_at }),
          ...(!end && { ends_at: null }),
        };
        const changed = await cli.progress('Changing', cli.berth().admin.announcements.update(id, body));
        cli.print.done(changed, 'The announcement is changed.', id);
      }),
    );

type Times = {
  /** In seconds, as `lasts`. */
  readonly startsIn: number | undefined;
  readonly lasts: number | undefined;
  /** When it appears by now, in ISO 8601; null for a new one. */
  readonly startsAt: string | null;
};

/** The given times: it lasts from when it appears, or from now where that is past. */
function timesOf({ startsIn, lasts, startsAt }: Times): { starts_at?: string; ends_at?: string } {
  const nowMs = Date.now();
  const beforeMs = startsAt === null ? nowMs : Date.parse(startsAt);
  const startMs = startsIn === undefined ? Math.max(nowMs, beforeMs) : nowMs + startsIn * 1_000;
  return {
    ...(startsIn !== undefined && { starts_at: new Date(startMs).toISOString() }),
    ...(lasts !== undefined && { ends_at: new Date(startMs + lasts * 1_000).toISOString() }),
  };
}

const remove = () =>
  command('rm', 'Delete an announcement')
    .argument('[announcement]', AN_ANNOUNCEMENT)
    .action(
      withCli(async (cli, given) => {
        const { id } = await find(cli, given);
        const deleted = await cli.berth().admin.announcements.delete(id);
        cli.print.done(deleted, 'The announcement is deleted.', id);
      }),
    );

const all = (cli: Cli): Promise<Announcement[]> =>
  cli.progress('Listing announcements', cli.berth().admin.announcements.list());

const find = async (cli: Cli, given: string | undefined): Promise<Announcement> =>
  findOne(cli, await all(cli), given, {
    what: 'announcement',
    id: ({ id }) => id,
    names: ({ text }) => [text],
    list: 'berth admin announcements ls',
  });

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
  empty: 'No announcements.',
};
