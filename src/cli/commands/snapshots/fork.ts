import { InvalidArgumentError } from '@commander-js/extra-typings';
import { command, withCli } from '../../command.ts';
import { findContainer } from '../../values/find.ts';
import { untilSettled } from '../../values/settled.ts';
import { seconds } from '../../values/times.ts';
import { labels } from '../../values/variables.ts';
import { CONTAINERS } from '../containers/ls.ts';

const HELP = `
Examples:
  berth fork dev
  berth fork dev try --count 3 --ephemeral --ttl 1h
`;

export const fork = () =>
  command('fork', 'Create containers with the current files of another')
    .argument('<container>', 'its name or id; a running one is paused meanwhile')
    .argument('[name]', 'of the fork; several are numbered')
    .option('--count <number>', 'how many, 1 to 8', wholeNumber, 1)
    .option('--ephemeral', 'delete them when they end')
    .option('--ttl <time>', 'end them after this time, such as 2h', seconds)
    .option('--idle <time>', 'end them after this time without use, such as 30m', seconds)
    .addOption(labels())
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, name, { count, ephemeral = false, ttl, idle, label }) => {
        const source = await findContainer(cli, given);
        const body = {
          count,
          labels: label,
          ...(name !== undefined && { name }),
          ...(ephemeral && { ephemeral }),
          ...(ttl !== undefined && { ttl_seconds: Math.round(ttl) }),
          ...(idle !== undefined && { idle_seconds: Math.round(idle) }),
        };
        const forks = await cli.progress(`Copying ${source.name}`, source.fork(body));
        for (const each of forks) await cli.progress(`Creating ${each.name}`, untilSettled(each));
        cli.print.list(
          forks.map(({ info }) => info),
          CONTAINERS,
        );
      }),
    );

function wholeNumber(text: string): number {
  if (!/^[1-8]$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 8.');
  return Number(text);
}
