import {
  type CapacityWarning,
  capacityWarnings,
  type DiskNow,
  distinctDisks,
  type HostFigures,
  type LoadNow,
  type NodeSums,
  type StoredSums,
} from '../../../domain/containers/capacity/capacity.ts';
import { isHostShort, reserveBytes } from '../../../domain/containers/disk-quota.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { HostReading } from './host-reading.ts';

export type NodeCapacity = {
  readonly sums: NodeSums;
  /** null while the engine does not answer. */
  readonly host: HostFigures | null;
  readonly disks: readonly DiskNow[];
  /** What the containers use in all; null when unknown. */
  readonly load: LoadNow | null;
  readonly warnings: readonly CapacityWarning[];
};

export type Capacity = {
  readonly at: Date;
  readonly nodes: readonly NodeCapacity[];
  readonly stored: StoredSums;
};

export type CapacityDeps = {
  readonly storage: Pick<Storage, 'repositories'>;
  readonly clock: Clock;
  readonly read: () => Promise<HostReading>;
  readonly settings: { readonly node: string; readonly diskFloorMb: number | null };
};

const NOTHING = { memoryMb: 0, cpuMillicores: 0, diskMb: 0 };

/** The engines' machines: what they have, what their containers may use, and what these do use. */
export const readCapacity =
  ({ storage: { repositories }, clock, read, settings }: CapacityDeps) =>
  async (): Promise<Capacity> => {
    const [reading, sums, stored] = await Promise.all([
      read(),
      repositories.capacity.nodes(),
      repositories.capacity.stored(),
    ]);
    const { node: here } = settings;
    const known = sums.some(({ node }) => node === here)
      ? sums
      : [{ node: here, states: {}, running: NOTHING, all: NOTHING }, ...sums];
    const nodes = known.map((one) =>
      capacityOf(one, one.node === here ? reading : ELSEWHERE, settings.diskFloorMb),
    );
    return { at: clock.now(), nodes, stored };
  };

/** An engine that an earlier configuration used. */
const ELSEWHERE: HostReading = { host: null, spaces: [], loads: null };

function capacityOf(
  sums: NodeSums,
  { host, spaces, loads }: HostReading,
  floorMb: number | null,
): NodeCapacity {
  const disks = distinctDisks(spaces).map((space) => ({
    ...space,
    reserveBytes: reserveBytes(space, floorMb),
    isShort: isHostShort([space], floorMb),
  }));
  const runs = (sums.states.running ?? 0) > 0;
  const load = loads === null && runs ? null : sumOf([...(loads?.values() ?? [])]);
  return { sums, host, disks, load, warnings: capacityWarnings({ host, disks, sums }) };
}

export const sumOf = (loads: readonly LoadNow[]): LoadNow => ({
  cpuMillicores: loads.reduce((sum, one) => sum + one.cpuMillicores, 0),
  memoryBytes: loads.reduce((sum, one) => sum + one.memoryBytes, 0),
});
