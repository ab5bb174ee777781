import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { bytesText, cpuText, sizeText } from '../../values/sizes.ts';
import { ago } from '../../values/times.ts';

type Usage = Schemas['Usage'];

/** The words of `--sort`, and the fields behind them. Names rise, amounts fall. */
const SORTS = {
  name: 'username',
  containers: '-containers',
  cpu: '-cpu_used_millicores',
  memory: '-memory_used_mb',
  disk: '-disk_used_mb',
  kept: '-kept_mb',
  snapshots: '-snapshot_mb',
  recordings: '-recording_bytes',
  terminals: '-terminals',
  seen: '-last_seen_at',
} as const;

type Sort = keyof typeof SORTS;

export const usage = () =>
  command('usage', 'List what each user uses')
    .addOption(
      new Option('--sort <column>', 'the largest first; names from A to Z')
        .choices(Object.keys(SORTS) as Sort[])
        .default('name' as Sort),
    )
    .action(
      withCli(async ({ berth, print, progress }, { sort }) => {
        const all = berth().admin.usage({ sort: SORTS[sort] }).all();
        print.list(await progress('Listing usage', all), USAGE);
      }),
    );

const of = (used: string, limit: string): string => `${used} of ${limit}`;
const USAGE: Shown<Usage> = {
  columns: {
    user: ({ username }) => username,
    containers: ({ containers, max_containers }) => `${containers}/${max_containers}`,
    running: ({ running }) => String(running),
    cpu: ({ cpu_used_millicores, cpu_millicores }) =>
      of(cpuText(cpu_used_millicores), cpuText(cpu_millicores)),
    memory: ({ memory_used_mb, memory_mb }) => of(sizeText(memory_used_mb), sizeText(memory_mb)),
    disk: ({ disk_used_mb, disk_mb }) => of(sizeText(disk_used_mb), sizeText(disk_mb)),
    kept: ({ kept, kept_mb }) => (kept === 0 ? '–' : `${kept}, ${sizeText(kept_mb)}`),
    snapshots: ({ snapshots, snapshot_mb }) =>
      snapshots === 0 ? '–' : `${snapshots}, ${sizeText(snapshot_mb)}`,
    recordings: ({ recordings, recording_bytes }) =>
      recordings === 0 ? '–' : `${recordings}, ${bytesText(recording_bytes)}`,
    terminals: ({ terminals }) => String(terminals),
    tokens: ({ tokens }) => String(tokens),
    seen: ({ last_seen_at }) => ago(last_seen_at),
  },
  name: ({ username }) => username,
  empty: 'There are no users.',
};
