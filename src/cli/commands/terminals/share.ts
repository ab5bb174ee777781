import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findContainer, findOne } from '../../values/find.ts';
import { ago, seconds } from '../../values/times.ts';

type Share = Schemas['Collaboration'];

export const share = () => group('share', 'Share a terminal by a link', [create(), list(), end()]);

const create = () =>
  command('create', 'Create a link to the terminal of a container')
    .argument('[container]', 'its name or id')
    .addOption(
      new Option('--mode <mode>', 'watch, or type as well')
        .choices(['view', 'control'] as const)
        .default('view' as const),
    )
    .option('--expires <time>', 'when it ends, such as 30m or 2h', seconds)
    .action(
      withCli(async (cli, given, { mode, expires }) => {
        const { id, name } = await findContainer(cli, given);
        const body = { mode, ...(expires !== undefined && { expires_in_minutes: Math.ceil(expires / 60) }) };
        const made = await cli.progress(`Sharing ${name}`, cli.berth().collaborations.create(id, body));
        const what = mode === 'view' ? 'watch' : 'use';
        cli.notify(
          `Anyone who opens this link can ${what} the terminal of ${name}, until ${made.expires_at}.`,
        );
        cli.notify(`End it: berth share end ${made.id}`);
        if (cli.print.form === 'json') cli.print.one(made, { columns: {}, name: ({ url }) => url });
        else cli.print.text(made.url);
      }),
    );

const list = () =>
  command('ls', "List the links to a container's terminal")
    .alias('list')
    .argument('[container]', 'its name or id; all of yours without it')
    .action(withCli(async (cli, given) => cli.print.list(await all(cli, given), SHARES)));

const end = () =>
  command('end', 'End a link and disconnect its participants')
    .argument('[share]', 'its id, or the name of the container')
    .action(
      withCli(async (cli, given) => {
        const { id, container } = await findOne(cli, await all(cli, undefined), given, {
          what: 'share',
          id: ({ id }) => id,
          names: ({ container, mode, created_at }) => [
            container,
            `${container}, ${mode}, since ${ago(created_at)}`,
          ],
          list: 'berth share ls',
        });
        cli.print.done(
          await cli.berth().collaborations.end(id),
          `The link to the terminal of ${container} has ended.`,
          id,
        );
      }),
    );

type Listed = Share & { readonly container: string };

/** The live links of a container, or of all own ones. */
async function all(cli: Cli, given: string | undefined): Promise<Listed[]> {
  const { collaborations, containers, me } = cli.berth();
  const list = async (id: string, container: string): Promise<Listed[]> =>
    (await collaborations.list(id).all()).map((each) => ({ ...each, container }));
  if (given !== undefined) {
    const { id, name } = await findContainer(cli, given);
    return await list(id, name);
  }
  const { id: own } = await me.get();
  const found: Listed[] = [];
  for await (const { db_id, name, owner } of containers.list()) {
    if (owner.id === own) found.push(...(await list(db_id, name)));
  }
  return found;
}

const SHARES: Shown<Listed> = {
  columns: {
    id: ({ id }) => id,
    container: ({ container }) => container,
    mode: ({ mode }) => mode,
    ends: ({ expires_at }) => ago(expires_at),
    participants: ({ participants }) => participants.map(({ username }) => username).join(', ') || '–',
  },
  name: ({ id }) => id,
  empty: 'Nothing is shared.',
};
