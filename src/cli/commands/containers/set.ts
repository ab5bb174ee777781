import type { Container, ContainerChange, Schemas } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { findContainer } from '../../values/find.ts';
import { untilSettled } from '../../values/settled.ts';
import { bytesText, megabytes, millicores } from '../../values/sizes.ts';
import { CONTAINERS } from './ls.ts';

export const set = () =>
  command('set', "Change a container's name and limits; new limits restart it")
    .argument('[container]', 'its name or id')
    .option('--name <name>', 'a new name')
    .option('--memory <size>', 'such as 512m or 2g', megabytes)
    .option('--cpu <processors>', 'such as 1.5 or 500m', millicores)
    .option('--disk <size>', 'the size of /workspace, such as 10g', megabytes)
    .option('--carry-over', 'keep what was installed outside /workspace')
    .option('-y, --yes', 'do not ask')
    .action(
      withCli(async (cli, given, { name, memory, cpu, disk, carryOver = false, yes = false }) => {
        const change: ContainerChange = {
          ...(name !== undefined && { name }),
          ...(memory !== undefined && { memory_mb: memory }),
          ...(cpu !== undefined && { cpu_shares: cpu }),
          ...(disk !== undefined && { disk_mb: disk }),
        };
        if (Object.keys(change).length === 0) {
          throw usageError('No change was given.', 'For example: berth set dev --memory 2g');
        }
        const container = await findContainer(cli, given);
        if (!carryOver && isRecreated(container, change)) await confirmLoss(cli, container, yes);
        const work = container.update({ ...change, ...(carryOver && { carry_over: true }) });
        await cli.progress(
          `Changing ${container.name}`,
          work.then(() => untilSettled(container)),
        );
        cli.notify(`${container.name} is ${container.info.status} with its new settings.`);
        if (cli.print.form !== 'table') cli.print.one(container.info, CONTAINERS);
      }),
    );

const isRecreated = ({ info: { resources } }: Container, change: ContainerChange): boolean =>
  (['memory_mb', 'cpu_shares', 'disk_mb'] as const).some(
    (field) => change[field] !== undefined && change[field] !== resources[field],
  );

/** Asks unless it is certain that nothing outside the volume would be lost. */
async function confirmLoss(cli: Cli, container: Container, yes: boolean): Promise<void> {
  if (yes || container.info.status !== 'running') return;
  const loss = await cli.progress(`Checking ${container.name}`, lossOf(cli, container));
  if (loss !== null) await cli.ask.confirm(`${loss}. Restart ${container.name}?`, false);
}

async function lossOf(cli: Cli, container: Container): Promise<string | null> {
  const { takes_snapshots } = await cli.berth().catalogue.engine();
  if (!takes_snapshots) return 'Everything outside /workspace will be lost';
  const words = changesText(await container.changes());
  return words === null ? null : `${words} outside /workspace will be lost; --carry-over keeps them`;
}

function changesText({ package_count, files, complete }: Schemas['Changes']): string | null {
  const kept = files.filter(({ disposable }) => !disposable);
  const bytes = kept.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0);
  const parts = [
    ...(package_count > 0 ? [`${package_count} installed packages`] : []),
    ...(kept.length > 0 ? [`files in ${kept.length} folders (${bytesText(bytes)})`] : []),
    ...(complete ? [] : ['files that Berth could not list']),
  ];
  return parts.length === 0 ? null : parts.join(' and ');
}
