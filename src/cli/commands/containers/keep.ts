import { command, withCli } from '../../command.ts';
import { findContainers } from '../../values/find.ts';
import { lengthText, seconds } from '../../values/times.ts';

const HELP = `
Examples:
  berth keep dev
  berth keep dev 8h
`;

const HOUR = 3_600;

export const keep = () =>
  command('keep', 'Keep a container that would end by itself')
    .argument('<container>', 'its name or id')
    .argument('[time]', 'for at least how long from now, such as 30m or 8h; 1h if not given', seconds)
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, time) => {
        const length = Math.round(time ?? HOUR);
        for (const container of await findContainers(cli, [given])) {
          const lifetime = await container.keep(length);
          const words = `${container.name} will not end by itself for ${lengthText(length)}.`;
          cli.print.done(lifetime, words, container.name);
        }
      }),
    );
