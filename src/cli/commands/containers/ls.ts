import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import type { Style } from '../../io/style.ts';
import { cpuText, sizeText } from '../../values/sizes.ts';
import { ago } from '../../values/times.ts';

export const STATUSES = [
  'running',
  'stopped',
  'creating',
  'starting',
  'stopping',
  'updating',
  'failed',
] as const;

type Container = Schemas['Container'];

/** The words of `--sort`, and the fields behind them. Names ascend; times and amounts descend. */
const SORTS = {
  name: 'name',
  status: 'status',
  created: '-created_at',
  used: '-last_used_at',
  cpu: '-cpu',
  memory: '-memory',
  disk: '-disk',
} as const;

type Sort = keyof typeof SORTS;

const sortOption = () =>
  new Option('--sort <column>', 'the newest or largest first; names from A to Z').choices(
    Object.keys(SORTS) as Sort[],
  );

const SORT_HELP = `
cpu, memory and disk are what is in use now: cpu as a share of the limit.
`;

export const ls = () =>
  command('ls', 'List containers')
    .alias('list')
    .addOption(new Option('--status <status>', 'only those with this status').choices(STATUSES))
    .addOption(sortOption())
    .option('--deleted', 'only the deleted ones that can still be restored')
    .addHelpText('after', SORT_HELP)
    .action(
      withCli(async ({ berth, print, progress }, { status, sort, deleted = false }) => {
        const query = {
          ...(sort !== undefined && { sort: SORTS[sort] }),
          ...(status !== undefined && { status }),
          ...(deleted && { deleted: 'true' as const }),
        };
        const containers = await progress('Listing containers', berth().containers.list(query).all());
        print.list(containers, deleted ? DELETED : CONTAINERS);
      }),
    );

/** An agent has no limits. */
const limit = ({ agent }: Container, text: string): string => (agent === undefined ? text : '–');

/** How containers are shown, also by other commands. */
export const CONTAINERS: Shown<Container> = {
  columns: {
    name: ({ name }) => name,
    status: (container, style) => statusText(container, style),
    image: ({ image }) => image,
    role: ({ role }) => role,
    memory: (container) => limit(container, sizeText(container.resources.memory_mb)),
    cpu: (container) => limit(container, cpuText(container.resources.cpu_shares)),
    disk: (container) => limit(container, diskText(container)),
    owner: ({ owner }) => owner.username,
    used: ({ last_used_at }) => ago(last_used_at),
  },
  name: ({ name }) => name,
  empty: 'No containers. Create one: berth create NAME',
};

const diskText = ({ resources, volume }: Container): string =>
  `${sizeText(volume.used_mb)} of ${sizeText(resources.disk_mb)}`;

export const DELETED: Shown<Container> = {
  columns: {
    name: ({ name }) => name,
    image: ({ image }) => image,
    files: ({ volume }) => `${sizeText(volume.used_mb)} of ${sizeText(volume.size_mb)}`,
    installed: ({ keeps_installed = false }) => (keeps_installed ? 'kept' : 'lost'),
    deleted: ({ deleted_at }) => ago(deleted_at),
    'permanently deleted': ({ kept_until }) => ago(kept_until),
    id: ({ db_id }) => db_id,
  },
  name: ({ name }) => name,
  empty: 'Nothing to restore.',
};

const COLOURS: Readonly<Record<string, Parameters<Style>[0]>> = {
  running: 'green',
  stopped: 'dim',
  failed: 'red',
};

function statusText({ status, status_reason }: Container, style: Style): string {
  const words = status_reason === null ? status : `${status}: ${status_reason}`;
  return style(COLOURS[status] ?? 'yellow', words);
}
