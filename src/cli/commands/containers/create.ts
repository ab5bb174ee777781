import { Option } from '@commander-js/extra-typings';
import type { Container } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { CliError, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { untilSettled } from '../../values/settled.ts';
import { megabytes, millicores } from '../../values/sizes.ts';
import { seconds } from '../../values/times.ts';
import { labels, variables } from '../../values/variables.ts';
import { findSnapshot } from '../snapshots/snapshots.ts';
import { CONTAINERS } from './ls.ts';

const HELP = `
Examples:
  berth create dev
  berth create api --image debian --role node --memory 2g --cpu 1.5 --disk 10g -e NODE_ENV=development
  berth create again --snapshot base
  berth create --ephemeral --ttl 2h --idle 30m --label run=7
`;

export const create = () =>
  command('create', 'Create and start a container')
    .argument('[name]', '1 to 64 letters, digits and hyphens')
    .addOption(variables())
    .option('--snapshot <name>', 'make it from this snapshot, instead of an image')
    .option('--image <key>', 'the key of its image')
    .option('--role <key>', 'a toolset to install, such as node')
    .option('--memory <size>', 'such as 512m or 2g', megabytes)
    .option('--cpu <processors>', 'such as 1.5 or 500m', millicores)
    .option('--disk <size>', 'the size of /workspace, such as 10g', megabytes)
    .option('--ephemeral', 'delete it when it ends; it needs no name')
    .option('--ttl <time>', 'end it after this time, such as 2h', seconds)
    .option('--idle <time>', 'end it after this time without use, such as 30m', seconds)
    .addOption(new Option('--on-idle <what>', 'what to do after --idle').choices(['stop', 'delete']))
    .addOption(labels())
    .option('--wait', 'wait until it runs', true)
    .option('--no-wait', 'return at once')
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, options) => {
        const { env, snapshot, image, role, memory, cpu, disk } = options;
        const { ephemeral = false, ttl, idle, onIdle, label } = options;
        const name = given ?? (ephemeral ? undefined : await nameFor(cli));
        const body = {
          ...(name !== undefined && { name }),
          ...(ephemeral && { ephemeral }),
          ...(ttl !== undefined && { ttl_seconds: Math.round(ttl) }),
          ...(idle !== undefined && { idle_seconds: Math.round(idle) }),
          ...(onIdle !== undefined && { on_idle: onIdle }),
          ...(Object.keys(label).length > 0 && { labels: label }),
          ...(snapshot !== undefined && { snapshot_id: (await findSnapshot(cli, snapshot)).id }),
          ...(image !== undefined && { image }),
          ...(role !== undefined && { role }),
          ...(memory !== undefined && { memory_mb: memory }),
          ...(cpu !== undefined && { cpu_shares: cpu }),
          ...(disk !== undefined && { disk_mb: disk }),
          ...(Object.keys(env).length > 0 && { env }),
        };
        const container = await cli.progress(`Creating ${name ?? 'a container'}`, cli.berth().create(body));
        if (options.wait) await untilRunning(cli, container);
        report(cli, container);
      }),
    );

async function nameFor({ ask }: Cli): Promise<string> {
  if (!ask.possible) throw usageError('Name the container.', 'For example: berth create dev');
  return (await ask.line('Name of the container: ')).trim();
}

async function untilRunning(cli: Cli, container: Container): Promise<void> {
  await cli.progress(() => `Creating ${container.name}: ${container.info.status}`, untilSettled(container));
  const { status, status_reason } = container.info;
  if (status === 'running') return;
  throw new CliError(`${container.name} is ${status}${status_reason === null ? '' : `: ${status_reason}`}.`, {
    code: 'not_running',
    next: `Try again: berth start ${container.name}`,
  });
}

function report({ print, notify }: Cli, { name, info }: Container): void {
  const { status, role_setup } = info;
  const words = status === 'running' ? `${name} is running.` : `${name} is ${status}.`;
  notify(
    role_setup.status === 'installing' ? `${words} The tools of its toolset are being installed.` : words,
  );
  if (status === 'running' && print.form === 'table') notify(`Open a shell: berth shell ${name}`);
  if (print.form !== 'table') print.one(info, CONTAINERS);
}
