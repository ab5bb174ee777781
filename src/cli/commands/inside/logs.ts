import { InvalidArgumentError } from '@commander-js/extra-typings';
import { command, withCli } from '../../command.ts';
import { writeTo } from '../../io/streams.ts';
import { findContainer } from '../../values/find.ts';

export const logs = () =>
  command('logs', "Show the output of a container's first program")
    .argument('[container]', 'its name or id')
    .option('-f, --follow', 'keep printing new output')
    .option('-n, --tail <lines>', 'only this many of the last lines', lines)
    .action(
      withCli(async (cli, given, { follow = false, tail }) => {
        const container = await findContainer(cli, given);
        for await (const text of container.logs({ follow, ...(tail !== undefined && { tail }) }))
          await writeTo(cli.io.out, text);
      }),
    );

function lines(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}
