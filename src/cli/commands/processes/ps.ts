import type { Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findContainer } from '../../values/find.ts';
import { ago } from '../../values/times.ts';

type Process = Schemas['Process'];

export const ps = () =>
  command('ps', 'List the processes of a container')
    .argument('[container]', 'its name or id')
    .option('-a, --all', 'also those that ended in the last day')
    .action(
      withCli(async (cli, given, { all = false }) => {
        const container = await findContainer(cli, given);
        const listed = await cli.progress('Listing processes', container.processes.list());
        const infos = listed.map(({ info }) => info);
        cli.print.list(all ? infos : infos.filter(({ status }) => status !== 'ended'), PROCESSES);
      }),
    );

const PROCESSES: Shown<Process> = {
  columns: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    status: (process) => statusText(process),
    pid: ({ pid }) => (pid === null ? '' : String(pid)),
    started: ({ started_at }) => ago(started_at),
    command: ({ command }) => command.join(' '),
  },
  name: ({ id }) => id,
  empty: 'No processes. Start one: berth run NAME -- COMMAND',
};

function statusText({ status, ended_by, exit_code, signal }: Process): string {
  if (status !== 'ended') return status;
  if (ended_by === 'exit') return `exit ${exit_code}`;
  return ended_by === 'signal' ? `SIG${signal}` : String(ended_by).replaceAll('_', ' ');
}
