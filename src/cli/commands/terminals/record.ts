import type { Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findContainer, findOne } from '../../values/find.ts';
import { bytesText } from '../../values/sizes.ts';
import { ago, lengthText } from '../../values/times.ts';

type Recording = Schemas['Recording'];

export const record = () => group('record', 'Record terminals', [start(), stop(), list(), remove()]);

const start = () =>
  command('start', 'Record an open terminal from now on')
    .argument('[container]', 'its name or id')
    .option('--session <name>', 'which of its terminals', 'main')
    .action(
      withCli(async (cli, given, { session }) => {
        const { id, name } = await findContainer(cli, given);
        const made = await cli.progress('Starting', cli.berth().recordings.start(id, session));
        cli.print.done(made, `The terminal ${session} of ${name} is being recorded.`, made.id);
      }),
    );

const stop = () =>
  command('stop', 'End a recording')
    .argument('[recording]', 'its id, or the name of the container')
    .action(
      withCli(async (cli, given) => {
        const active = (await all(cli)).filter(({ state }) => state === 'recording');
        const { id } = await findOne(cli, active, given, NAMED);
        cli.print.done(await cli.berth().recordings.stop(id), 'The recording has ended.', id);
      }),
    );

const list = () =>
  command('ls', 'List your recordings')
    .alias('list')
    .action(withCli(async (cli) => cli.print.list(await all(cli), RECORDINGS)));

const remove = () =>
  command('rm', 'Delete a recording')
    .alias('delete')
    .argument('[recording]', 'its id, or the name of the container')
    .option('-y, --yes', 'do not ask')
    .action(
      withCli(async (cli, given, { yes = false }) => {
        const { id, container_name, started_at } = await findRecording(cli, given);
        await cli.ask.confirm(`Delete the recording of ${container_name}, started ${ago(started_at)}?`, yes);
        cli.print.done(await cli.berth().recordings.delete(id), 'The recording is deleted.', id);
      }),
    );

/** Of one's own, by its id or its container's name; without one a person picks. */
export const findRecording = async (cli: Cli, given: string | undefined): Promise<Recording> =>
  await findOne(cli, await all(cli), given, NAMED);

const all = (cli: Cli): Promise<Recording[]> =>
  cli.progress('Listing recordings', cli.berth().recordings.list().all());

const NAMED = {
  what: 'recording',
  id: ({ id }: Recording) => id,
  names: ({ container_name, started_at }: Recording) => [
    container_name,
    `${container_name}, started ${ago(started_at)}`,
  ],
  list: 'berth record ls',
};

const RECORDINGS: Shown<Recording> = {
  columns: {
    id: ({ id }) => id,
    container: ({ container_name }) => container_name,
    terminal: ({ connection_id }) => connection_id,
    state: ({ state }) => state,
    started: ({ started_at }) => ago(started_at),
    length: ({ duration_ms }) => lengthText(duration_ms / 1000),
    size: ({ size_bytes }) => bytesText(size_bytes),
  },
  name: ({ id }) => id,
  empty: 'No recordings. Start one: berth record start NAME',
};
