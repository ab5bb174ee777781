import type { Event } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import { printableIn } from '../../io/io.ts';
import { writeTo } from '../../io/streams.ts';
import { findContainer } from '../../values/find.ts';

const HELP = `
Runs until you interrupt it, and reconnects after a lost connection.
With -o json each line is an event as the service sent it.
`;

export const events = () =>
  command('events', 'Follow the changes of containers, of your account and of the server')
    .argument('[container]', 'only of this one, by name or id')
    .option('--after <id>', 'begin after this event')
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, { after }) => {
        const id = given === undefined ? null : (await findContainer(cli, given)).id;
        const stream = cli.berth().events(after === undefined ? {} : { after });
        await cli.progress('Connecting', stream.connected);
        for await (const event of stream) {
          if (event.type === 'resync') cli.notify('Events were missed. See the present state: berth ls');
          else if (id === null || idOf(event) === id)
            await writeTo(
              cli.io.out,
              `${cli.print.form === 'json' ? JSON.stringify(event) : lineOf(event)}\n`,
            );
        }
      }),
    );

/** The container's; null for an event of something else. */
const idOf = ({ data }: Event): string | null => ('db_id' in data ? data.db_id : null);

function lineOf(event: Event): string {
  const { type, time, data } = printableIn(event);
  return [time, type, data.name ?? data.id, data.status, moreOf(data)].join('  ').trimEnd();
}

function moreOf(data: Event['data']): string {
  if ('change' in data) return data.change;
  if ('db_id' in data)
    return data.reason ?? (data.role_setup === undefined ? '' : `tools: ${data.role_setup.status}`);
  return 'reason' in data ? data.reason : '';
}
