import type { Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { cpuText, sizeText } from '../../values/sizes.ts';

type Capacity = Schemas['Capacity'];
type Node = Schemas['NodeCapacity'];

export const capacity = () =>
  command('capacity', 'Show what the machine has, what containers may use, and what they use').action(
    withCli(async ({ berth, print, progress, notify }) => {
      const read = await progress('Reading the capacity', berth().admin.capacity());
      if (print.form === 'json') return print.text(JSON.stringify(read));
      print.list(read.nodes.flatMap(machineOf), MACHINE);
      print.list(storedOf(read), STORED);
      for (const { message } of read.nodes.flatMap(({ warnings }) => warnings)) notify(message);
    }),
  );

/** A resource of a node, in words. */
type Resource = {
  readonly node: string;
  readonly what: string;
  readonly total: string;
  readonly used: string;
  readonly containers: string;
  readonly promised: string;
};

/** `6 GB, 1.5 times`: the promise, and its ratio to the total. */
const promisedText = (promised: string, overcommit: number | null): string =>
  overcommit === null ? promised : `${promised}, ${overcommit} times`;

function machineOf({ name: node, cpu, memory, disk, disks }: Node): Resource[] {
  const [first, ...others] = disks;
  const size = (part: Node['disks'][number] | undefined) => ({
    total: sizeText(part?.total_mb ?? null),
    used: sizeText(part?.used_mb ?? null),
    containers: '–',
  });
  return [
    {
      node,
      what: 'cpu',
      total: cpuText(cpu.total_millicores),
      used: cpuText(cpu.used_millicores),
      containers: cpuText(cpu.containers_millicores),
      promised: promisedText(cpuText(cpu.promised_millicores), cpu.overcommit),
    },
    {
      node,
      what: 'memory',
      total: sizeText(memory.total_mb),
      used: sizeText(memory.used_mb),
      containers: sizeText(memory.containers_mb),
      promised: promisedText(sizeText(memory.promised_mb), memory.overcommit),
    },
    {
      node,
      what: 'disk',
      ...size(first),
      promised: promisedText(sizeText(disk.promised_mb), disk.overcommit),
    },
    ...others.map((one) => ({ node, what: `disk of the ${one.kind}`, ...size(one), promised: '–' })),
  ];
}

const MACHINE: Shown<Resource> = {
  columns: {
    node: ({ node }) => node,
    resource: ({ what }) => what,
    total: ({ total }) => total,
    used: ({ used }) => used,
    'by containers': ({ containers }) => containers,
    promised: ({ promised }) => promised,
  },
  name: ({ what }) => what,
};

type Stored = { readonly what: string; readonly count: number; readonly used_mb: number | null };

const storedOf = ({ stored, nodes }: Capacity): Stored[] => [
  { what: 'running containers', count: sum(nodes, ({ containers }) => containers.running), used_mb: null },
  { what: 'containers', ...stored.volumes },
  { what: 'deleted containers', ...stored.deleted_containers },
  { what: 'snapshots', ...stored.snapshots },
  { what: 'deleted snapshots', ...stored.deleted_snapshots },
  { what: 'recordings', ...stored.recordings },
  ...nodes.flatMap(({ images }) =>
    images === null ? [] : [{ what: 'images', count: images.count, used_mb: images.size_mb }],
  ),
  { what: 'warm pool', count: stored.warm_pool.ready, used_mb: null },
];

const sum = (nodes: readonly Node[], of: (node: Node) => number): number =>
  nodes.reduce((all, node) => all + of(node), 0);

const STORED: Shown<Stored> = {
  columns: {
    stored: ({ what }) => what,
    count: ({ count }) => String(count),
    disk: ({ used_mb }) => sizeText(used_mb),
  },
  name: ({ what }) => what,
};
