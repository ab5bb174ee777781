import type { Figures } from '../../../api/containers/containers.ts';
import type { Container } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { layerSpace, shortUse, volumeSpace } from '../../../lib/format/disk-space.ts';
import { cpuShare, linePath, memoryUse } from '../../../lib/format/figures.ts';
import { ago, cpu, memory } from '../../../lib/format/format.ts';
import { figures } from '../../../state/figures.ts';

const MIB = 1_048_576;

const figuresOf = ({ db_id, status }: Container): Figures | undefined =>
  status === 'running' ? figures.value.get(db_id) : undefined;

/** The processor's use, or its limit while nothing is measured. */
export function CpuCell({ container }: { container: Container }) {
  const { cpu_shares } = container.resources;
  const measured = figuresOf(container);
  const used = measured?.cpu_millicores ?? null;
  return (
    <span class="row-cpu" title={used === null ? undefined : `${cpu(used)} of ${cpu(cpu_shares)}`}>
      <span>{used === null ? cpu(cpu_shares) : cpuShare(used, cpu_shares)}</span>
      <Line values={measured?.hour.cpu_millicores} top={cpu_shares} />
    </span>
  );
}

/** The memory's use, or its limit while nothing is measured. */
export function MemoryCell({ container }: { container: Container }) {
  const { memory_mb } = container.resources;
  const measured = figuresOf(container);
  const used = measured?.memory_bytes ?? null;
  return (
    <span class="row-memory">
      <span>{used === null ? memory(memory_mb) : memoryUse(used, memory_mb)}</span>
      <Line values={measured?.hour.memory_bytes} top={memory_mb * MIB} />
    </span>
  );
}

/** The use of the volume, and of the disk outside it. */
export function SpaceCell({ container }: { container: Container }) {
  const [volume, layer] = [volumeSpace(container), layerSpace(container)];
  return (
    <span class="row-space" title={`Disk ${shortUse(volume)}, layer ${shortUse(layer)}`}>
      <span class={volume.fill}>Disk {shortUse(volume)}</span>
      <span class={layer.fill}>Layer {shortUse(layer)}</span>
    </span>
  );
}

/** Says that a program was ended for want of memory, for an hour; nothing otherwise. */
export function MemoryNote({ container }: { container: Container }) {
  const killedAt = figuresOf(container)?.killed_at ?? null;
  if (killedAt === null || now.value.getTime() - Date.parse(killedAt) > 3_600_000) return null;
  return (
    <span class="row-sub bad" title="A program was ended because the container reached its memory limit.">
      ran out of memory {ago(killedAt, now.value)}
    </span>
  );
}

type LineProps = { readonly values: readonly (number | null)[] | undefined; readonly top: number };

const WIDTH = 88;
const HEIGHT = 16;

/** The last hour as a line; it says nothing that the number beside it does not. */
function Line({ values, top }: LineProps) {
  if (values === undefined) return null;
  return (
    <svg
      class="figure-line"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
    >
      <path d={linePath(values, top, WIDTH, HEIGHT)} />
    </svg>
  );
}
