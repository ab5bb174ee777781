import { Option } from '@commander-js/extra-typings';
import { command, withCli } from '../../command.ts';
import { findContainer } from '../../values/find.ts';
import { findProcess } from './find-process.ts';

const SIGNALS = ['HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'TERM', 'CONT', 'STOP'] as const;

export const kill = () =>
  command('kill', 'End a process and everything that it started')
    .argument('<container>', 'its name or id')
    .argument('[process]', 'its name or id')
    .addOption(new Option('-s, --signal <signal>', 'send only this signal').choices(SIGNALS))
    .action(
      withCli(async (cli, given, wanted, { signal }) => {
        const found = await findProcess(cli, await findContainer(cli, given), wanted);
        if (signal !== undefined) {
          await found.signal(signal);
          return cli.print.done(found.info, `${found.name} was sent SIG${signal}.`, found.id);
        }
        const info = await cli.progress('Ending', found.kill());
        cli.print.done(info, `${found.name} has ended.`, found.id);
      }),
    );
