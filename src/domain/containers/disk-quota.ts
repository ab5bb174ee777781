/** The values of BERTH_DISK_QUOTA. */
export type QuotaSetting = 'auto' | 'hard' | 'soft';

/** As shown to users: `hard` is enforced by a file system, `soft` is measured. */
export type Quota = 'hard' | 'soft';

/**
 * How a volume's size is enforced. `image`: its own file system in a file. `engine`: by the engine, fixed for good.
 * `measured`: once a minute. `none`: not at all, so no volume may be made.
 */
export type QuotaMode = 'image' | 'engine' | 'measured' | 'none';

export const quotaOf = (mode: QuotaMode): Quota => (mode === 'image' || mode === 'engine' ? 'hard' : 'soft');

/** Why a method for a hard quota does not work; null when it does. */
export type QuotaFault = string | null;

export type QuotaChoice = { readonly mode: QuotaMode; readonly detail: string };

/**
 * The method for new volumes. An image precedes the engine's quota because it can grow and shrink. `hard` makes no
 * volumes rather than unlimited ones.
 */
export function chooseQuota(setting: QuotaSetting, image: QuotaFault, engine: QuotaFault): QuotaChoice {
  if (setting === 'soft') return { mode: 'measured', detail: 'soft, as configured: measured every minute' };
  if (image === null) return { mode: 'image', detail: 'hard: each volume has its own file system' };
  if (engine === null)
    return { mode: 'engine', detail: 'hard: the engine enforces the size, which is fixed' };
  const why = [...new Set([image, engine])].join('; ');
  return setting === 'hard'
    ? { mode: 'none', detail: `no volume can be created: ${why}` }
    : { mode: 'measured', detail: `soft, measured every minute: ${why}` };
}

/** Where the engine keeps images and layers, for `/readyz`. `pool` is null without a file system of its own. */
export const engineDataWords = (pool: HostSpace | null, why: string | null): string =>
  pool === null
    ? `the engine's data shares its file system with other data: ${why ?? 'unknown'}`
    : `the engine's data has ${inMb(pool.totalBytes)} MB of its own, ${inMb(pool.freeBytes)} MB free`;

const inMb = (bytes: number): number => Math.floor(bytes / 1_048_576);

const NO_START_ABOVE = 1;
const STOP_ABOVE = 1.1;

/** What happens to a container with a soft quota. A hard one is enforced by the file system. */
export type DiskVerdict = 'fine' | 'no start' | 'stop';

export function judgeDisk(quota: Quota, usedMb: number | null, diskMb: number): DiskVerdict {
  if (quota === 'hard' || usedMb === null || usedMb <= diskMb * NO_START_ABOVE) return 'fine';
  return usedMb > diskMb * STOP_ABOVE ? 'stop' : 'no start';
}

/** Shown for a container stopped because of its disk. */
export const overQuotaReason = (usedMb: number, diskMb: number): string =>
  `over its disk size: ${usedMb} of ${diskMb} MB in /workspace, more than 110 %. Increase its disk size, then start it`;

/** Rounds up, so that a container above its limit never shows as equal to it. */
export const toMb = (bytes: number): number => Math.ceil(bytes / 1_048_576);

/** A file system that receives new data. `isPool`: it has only the engine's data. */
export type HostSpace = {
  /** Of a folder on it. */
  readonly path?: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly isPool: boolean;
};

const FLOOR_SHARE = 0.1;
const FLOOR_BYTES = 5 * 1024 ** 3;

/** The required free space: `floorMb`, else a tenth of the file system or 5 GiB, whichever is smaller. */
export const floorBytes = (totalBytes: number, floorMb: number | null): number =>
  floorMb === null ? Math.min(totalBytes * FLOOR_SHARE, FLOOR_BYTES) : floorMb * 1_048_576;

/**
 * Whether any file system is below its floor. A set floor is meant for the host; a pool needs at most a tenth of
 * itself.
 */
export const isHostShort = (spaces: readonly HostSpace[], floorMb: number | null): boolean =>
  spaces.some((space) => space.freeBytes < reserveBytes(space, floorMb));

/** The free-space reserve of a file system. */
export const reserveBytes = ({ totalBytes, isPool }: HostSpace, floorMb: number | null): number => {
  const floor = floorBytes(totalBytes, floorMb);
  return isPool ? Math.min(floor, totalBytes * FLOOR_SHARE) : floor;
};

/** Below half of the floor, the container that fills it must stop. */
export const isHostFilling = (space: HostSpace, floorMb: number | null): boolean =>
  space.freeBytes < reserveBytes(space, floorMb) / 2;

/** A drop in free space by this much, or by a twentieth, starts a search for the writer. */
const SEARCH_AFTER_BYTES = 1024 ** 3;

/** A notable share in filling it: an eighth of the space left when it became critical. */
export const notableBytes = (space: HostSpace, floorMb: number | null): number =>
  Math.min(
    SEARCH_AFTER_BYTES,
    space.totalBytes / 20,
    reserveBytes(space, floorMb) / 16 || Number.POSITIVE_INFINITY,
  );

/** Whether to search for writers. `seenBytes`: the most free space since the last search; null before the first. */
export function isWorthMeasuring(
  space: HostSpace,
  seenBytes: number | null,
  floorMb: number | null,
): boolean {
  const isFilling = isHostFilling(space, floorMb);
  if (seenBytes === null) return isFilling;
  const step = isFilling ? notableBytes(space, floorMb) : Math.min(SEARCH_AFTER_BYTES, space.totalBytes / 20);
  return seenBytes - space.freeBytes > step;
}
