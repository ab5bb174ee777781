import type { NodeCapacity } from '../../../api/types.ts';
import { cpu, disk, memory, plural } from '../../../lib/format/format.ts';
import { Section } from '../../../ui/section.tsx';

/** An amount in words, and its share of what there is; null without one. */
type Line = { readonly label: string; readonly words: string; readonly share: number | null };

type Resource = { readonly name: string; readonly lines: readonly Line[] };

const shareOf = (amount: number | null, total: number | null): number | null =>
  amount === null || total === null || total <= 0 ? null : amount / total;

const percent = (share: number | null): string => (share === null ? '' : ` · ${Math.round(share * 100)} %`);

/** Of the total, with the share; a dash for what is unknown. */
function line(
  label: string,
  amount: number | null,
  total: number | null,
  format: (amount: number) => string,
  more = '',
): Line {
  const share = shareOf(amount, total);
  const of = total === null ? '' : ` of ${format(total)}`;
  return { label, share, words: amount === null ? '–' : `${format(amount)}${of}${percent(share)}${more}` };
}

const byContainers = (amount: number | null, format: (amount: number) => string): string =>
  amount === null ? '' : ` · ${format(amount)} by containers`;

function resourcesOf({ cpu: processor, memory: ram, disk: promisedDisk, disks }: NodeCapacity): Resource[] {
  const [first] = disks;
  const diskTotal = first?.total_mb ?? null;
  return [
    {
      name: 'Processor',
      lines: [
        line(
          'Used',
          processor.used_millicores,
          processor.total_millicores,
          cpu,
          byContainers(processor.containers_millicores, cpu),
        ),
        line('Promised', processor.promised_millicores, processor.total_millicores, cpu),
      ],
    },
    {
      name: 'Memory',
      lines: [
        line('Used', ram.used_mb, ram.total_mb, memory, byContainers(ram.containers_mb, memory)),
        line('Promised', ram.promised_mb, ram.total_mb, memory),
      ],
    },
    {
      name: 'Disk',
      lines: [
        ...disks.map(({ kind, used_mb, total_mb, free_mb }, index) =>
          line(
            index === 0 ? 'Used' : kind === 'engine' ? 'Engine' : 'Other disk',
            used_mb,
            total_mb,
            disk,
            ` · ${disk(free_mb)} free`,
          ),
        ),
        ...(disks.length === 0 ? [line('Used', null, null, disk)] : []),
        line('Promised', promisedDisk.promised_mb, diskTotal, disk),
      ],
    },
  ];
}

/** The engine's machine: what it has, what is used, and what containers may use. */
export function Machine({ node, title }: { readonly node: NodeCapacity; readonly title: string }) {
  return (
    <Section
      title={title}
      lead="Used: by all programs on the machine. Promised: the limits of the running containers, and of all containers for the disk."
    >
      <div class="resources">
        {resourcesOf(node).map(({ name, lines }) => (
          <div class="resource" key={name}>
            <h3>{name}</h3>
            <dl>
              {lines.map((one) => (
                <Bar key={one.label} line={one} />
              ))}
            </dl>
          </div>
        ))}
      </div>
      <p class="section-lead">{containersIn(node)}</p>
    </Section>
  );
}

function Bar({ line: { label, words, share } }: { readonly line: Line }) {
  const isOver = share !== null && share > 1;
  return (
    <div class="capacity-line">
      <dt>{label}</dt>
      <dd>
        {share !== null && (
          <span class={`capacity-bar ${label === 'Promised' ? 'promised' : ''}`} aria-hidden="true">
            <span style={{ width: `${Math.min(1, share) * 100}%` }} />
          </span>
        )}
        <span>
          {words}
          {isOver && <strong> More than there is</strong>}
        </span>
      </dd>
    </div>
  );
}

const STATES = ['running', 'stopped', 'failed', 'creating', 'starting', 'stopping', 'updating'] as const;

/** `3 containers: 2 running, 1 stopped` */
function containersIn({ containers }: NodeCapacity): string {
  const present = STATES.filter((state) => containers[state] > 0);
  const count = present.reduce((sum, state) => sum + containers[state], 0);
  if (count === 0) return 'No containers.';
  return `${plural(count, 'container')}: ${present.map((state) => `${containers[state]} ${state}`).join(', ')}.`;
}
