import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findOne } from '../../values/find.ts';
import { ago } from '../../values/times.ts';

type Terminal = Schemas['Terminal'];

export const terminals = () => group('terminals', 'Open terminals of all users', [list(), close()]);

const list = () =>
  command('ls', 'List the open terminals')
    .alias('list')
    .action(withCli(async (cli) => cli.print.list(await all(cli), TERMINALS)));

const close = () =>
  command('close', 'Close a terminal')
    .argument('[terminal]', 'its id, or the start of it')
    .action(
      withCli(async (cli, given) => {
        const { id } = await findOne(cli, await all(cli), given, {
          what: 'terminal',
          id: (terminal) => terminal.id,
          names: ({ username, container_name, connection_id }) => [
            `${username}, ${container_name}, ${connection_id}`,
          ],
          list: 'berth admin terminals ls',
        });
        cli.print.done(await cli.berth().admin.terminals.close(id), 'The terminal is closed.', id);
      }),
    );

const all = (cli: Cli): Promise<Terminal[]> =>
  cli.progress('Listing terminals', cli.berth().admin.terminals.list().all());

const TERMINALS: Shown<Terminal> = {
  columns: {
    id: ({ id }) => id,
    user: ({ username }) => username,
    container: ({ container_name }) => container_name,
    terminal: ({ connection_id }) => connection_id,
    client: ({ client }) => client ?? '–',
    from: ({ ip_address }) => ip_address || '–',
    viewers: ({ viewers }) => String(viewers),
    opened: ({ created_at }) => ago(created_at),
    ping: ({ last_ping_at }) => ago(last_ping_at),
  },
  name: ({ id }) => id,
  empty: 'No terminal is open.',
};
