import type { Gauge, Metrics } from '../../../ports/metrics.ts';
import type { Capacity } from './read-capacity.ts';

type CapacityGauge = Extract<Gauge, `host_${string}` | `promised_${string}` | 'containers_running'>;

/** An unknown amount is not a number, so that nobody takes it for zero. */
const known = (value: number | null | undefined): number => value ?? Number.NaN;

const READERS = {
  containers_running: ({ nodes }) => known(nodes[0]?.sums.states.running ?? 0),
  host_cpu_cores: ({ nodes }) => cores(nodes[0]?.host?.cpuMillicores),
  host_cpu_used_cores: ({ nodes }) => cores(nodes[0]?.host?.cpuUsedMillicores),
  host_memory_bytes: ({ nodes }) => known(nodes[0]?.host?.memoryBytes),
  host_memory_used_bytes: ({ nodes }) => known(nodes[0]?.host?.memoryUsedBytes),
  host_disk_bytes: ({ nodes }) => known(nodes[0]?.disks[0]?.totalBytes),
  host_disk_free_bytes: ({ nodes }) => known(nodes[0]?.disks[0]?.freeBytes),
  promised_cpu_cores: ({ nodes }) => cores(nodes[0]?.sums.running.cpuMillicores),
  promised_memory_bytes: ({ nodes }) => known(nodes[0]?.sums.running.memoryMb) * 1_048_576,
  promised_disk_bytes: ({ nodes }) => known(nodes[0]?.sums.all.diskMb) * 1_048_576,
} satisfies Record<CapacityGauge, (capacity: Capacity) => number>;

const cores = (millicores: number | null | undefined): number => known(millicores) / 1000;

/** Gauges of the last reading; the result reads again, for a timer. */
export function capacityGauges(metrics: Pick<Metrics, 'watch'>, read: () => Promise<Capacity>) {
  let last: Capacity | null = null;
  for (const [gauge, value] of Object.entries(READERS) as [CapacityGauge, (of: Capacity) => number][])
    metrics.watch(gauge, () => (last === null ? Number.NaN : value(last)));
  return async (): Promise<void> => {
    last = await read();
  };
}
