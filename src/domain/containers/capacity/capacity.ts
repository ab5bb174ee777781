import type { ContainerState } from '../container.ts';
import type { HostSpace } from '../disk-quota.ts';
import type { Resources } from '../resources.ts';

/** The machine of an engine: what it has, and what all programs on it use. null: unknown, as on another machine. */
export type HostFigures = {
  readonly cpuMillicores: number | null;
  readonly cpuUsedMillicores: number | null;
  readonly memoryBytes: number | null;
  /** Without caches that the kernel can reclaim. */
  readonly memoryUsedBytes: number | null;
  /** All of the engine's. */
  readonly images: { readonly count: number; readonly bytes: number } | null;
};

/** What a running container uses now. */
export type LoadNow = { readonly cpuMillicores: number; readonly memoryBytes: number };

export type LiveState = Exclude<ContainerState, 'deleted'>;

/** The containers of a node, and the sums of their limits. */
export type NodeSums = {
  readonly node: string;
  readonly states: Readonly<Partial<Record<LiveState, number>>>;
  /** Of those that run, or are changing. */
  readonly running: Resources;
  readonly all: Resources;
};

/** A number of things, and the disk that they use as last measured. */
export type StoredAmount = { readonly count: number; readonly usedMb: number };

/** What is stored of all users. */
export type StoredSums = {
  /** Of containers that are not deleted. */
  readonly volumes: StoredAmount;
  /** Deleted containers whose volumes are kept. */
  readonly deletedContainers: StoredAmount;
  readonly snapshots: StoredAmount;
  readonly deletedSnapshots: StoredAmount;
  readonly recordings: StoredAmount;
  readonly warmPool: { readonly ready: number; readonly making: number };
};

/** How much is promised for each unit that exists: 1.5 is half as much again. null when unknown. */
export const overcommitRatio = (promised: number, total: number | null): number | null =>
  total === null || total <= 0 ? null : Math.round((promised / total) * 100) / 100;

/** A disk with its use; `isShort`: nothing new may be made. */
export type DiskNow = HostSpace & { readonly reserveBytes: number; readonly isShort: boolean };

/** Two folders on one file system are one disk. */
export const distinctDisks = (spaces: readonly HostSpace[]): readonly HostSpace[] =>
  spaces.filter(
    (space, index) =>
      spaces.findIndex(
        (other) => other.totalBytes === space.totalBytes && other.freeBytes === space.freeBytes,
      ) === index,
  );

export type WarningCode =
  | 'engine_unreachable'
  | 'disk_short'
  | 'disk_filling'
  | 'memory_filling'
  | 'memory_overcommitted'
  | 'disk_overcommitted';

export type CapacityWarning = { readonly code: WarningCode; readonly message: string };

/** What warnings are about. `host` is null while the engine does not answer. */
export type JudgedNode = {
  readonly host: HostFigures | null;
  readonly disks: readonly DiskNow[];
  readonly sums: Pick<NodeSums, 'running' | 'all'>;
};

/** Above these shares it is worth a warning. */
const DISK_FULL = 0.85;
const MEMORY_FULL = 0.9;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Warnings about a node, in sentences, the most urgent first. */
export const capacityWarnings = ({ host, disks, sums }: JudgedNode): readonly CapacityWarning[] => [
  ...(host === null ? [UNREACHABLE] : []),
  ...disks.flatMap(diskWarning),
  ...(host === null ? [] : memoryWarnings(host, sums.running.memoryMb)),
  ...promisedDisk(disks, sums.all.diskMb),
];

const UNREACHABLE: CapacityWarning = {
  code: 'engine_unreachable',
  message: 'The container engine does not answer. Its figures are missing.',
};

const diskName = ({ isPool }: DiskNow): string => (isPool ? "The engine's disk" : 'The disk');

function diskWarning(disk: DiskNow): readonly CapacityWarning[] {
  const full = 1 - disk.freeBytes / disk.totalBytes;
  const words = `${diskName(disk)} is ${percent(full)} full.`;
  if (disk.isShort) {
    const message = `${words} Nothing new can be made. Delete snapshots for good, or add space.`;
    return [{ code: 'disk_short', message }];
  }
  if (full < DISK_FULL) return [];
  return [{ code: 'disk_filling', message: `${words} Delete snapshots, or add space.` }];
}

function memoryWarnings(
  { memoryBytes, memoryUsedBytes }: HostFigures,
  promisedMb: number,
): readonly CapacityWarning[] {
  if (memoryBytes === null) return [];
  const used = (memoryUsedBytes ?? 0) / memoryBytes;
  const promised = (promisedMb * 1_048_576) / memoryBytes;
  const filling = `Memory is ${percent(used)} used. Stop containers, or add memory.`;
  const over = `Running containers may use ${percent(promised)} of the memory. If they do, the kernel ends programs.`;
  return [
    ...(used >= MEMORY_FULL ? [{ code: 'memory_filling', message: filling } as const] : []),
    ...(promised > 1 ? [{ code: 'memory_overcommitted', message: over } as const] : []),
  ];
}

function promisedDisk(disks: readonly DiskNow[], promisedMb: number): readonly CapacityWarning[] {
  const [disk] = disks;
  const share = disk === undefined ? 0 : (promisedMb * 1_048_576) / disk.totalBytes;
  if (share <= 1) return [];
  const message = `Containers may fill ${percent(share)} of the disk. Watch its free space, or add some.`;
  return [{ code: 'disk_overcommitted', message }];
}
