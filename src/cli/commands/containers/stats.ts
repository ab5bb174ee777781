import type { Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import { findContainer } from '../../values/find.ts';
import { bytesText, cpuText } from '../../values/sizes.ts';

type Measured = Schemas['Stats'] & { readonly name: string };

const of = (used: number | null, limit: number, text: (value: number | null) => string): string =>
  `${text(used)} of ${text(limit)}`;

export const stats = () =>
  command('stats', 'Show what a running container uses now')
    .argument('[container]', 'its name or id')
    .action(
      withCli(async (cli, given) => {
        const container = await findContainer(cli, given);
        const measured = await cli.progress(`Measuring ${container.name}`, container.stats());
        const item: Measured = { name: container.name, ...measured };
        cli.print.one(item, {
          columns: {
            cpu: ({ cpu }) => of(cpu.used_millicores, cpu.limit_millicores, (cores) => cpuText(cores ?? 0)),
            memory: ({ memory }) => of(memory.used_bytes, memory.limit_bytes, bytesText),
            '/workspace': ({ disk }) => of(disk.used_bytes, disk.limit_bytes, bytesText),
            'other files': ({ layer }) => of(layer.used_bytes, layer.limit_bytes, bytesText),
            processes: ({ pids }) => (pids.limit === null ? `${pids.used}` : `${pids.used} of ${pids.limit}`),
          },
          name: ({ name }) => name,
        });
      }),
    );
