/** What BERTH_DISK_QUOTA asks for. */
export type QuotaSetting = 'auto' | 'hard' | 'soft';

/** As the interface tells it: `hard` is enforced by a file system, `soft` is measured. */
export type Quota = 'hard' | 'soft';

/**
 * How the size of a volume is kept. `image`: a file system of its own in a file. `engine`: a size that the engine keeps,
 * fixed for good. `measured`: looked at each minute. `none`: not at all, so that no volume may be made.
 */
export type QuotaMode = 'image' | 'engine' | 'measured' | 'none';

export const quotaOf = (mode: QuotaMode): Quota => (mode === 'image' || mode === 'engine' ? 'hard' : 'soft');

/** What was found out about one way to a hard quota: null when it works, else why it does not. */
export type QuotaFault = string | null;

export type QuotaChoice = { readonly mode: QuotaMode; readonly detail: string };

/**
 * The way for new volumes. An image goes before the engine's own quota because it can grow and shrink; `hard` rather has
 * no new volumes than a size that nothing keeps.
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

/** Where the engine keeps images and layers: for `/readyz`. `pool` is null when that is not a file system of its own. */
export const engineDataWords = (pool: HostSpace | null, why: string | null): string =>
  pool === null
    ? `the engine's data shares its file system with other data: ${why ?? 'unknown'}`
    : `the engine's data has ${inMb(pool.totalBytes)} MB of its own, ${inMb(pool.freeBytes)} MB free`;

const inMb = (bytes: number): number => Math.floor(bytes / 1_048_576);

const NO_START_ABOVE = 1;
const STOP_ABOVE = 1.1;

/** What a volume of a soft quota is due. Of a hard one the file system takes care. */
export type DiskVerdict = 'fine' | 'no start' | 'stop';

export function judgeDisk(quota: Quota, usedMb: number | null, diskMb: number): DiskVerdict {
  if (quota === 'hard' || usedMb === null || usedMb <= diskMb * NO_START_ABOVE) return 'fine';
  return usedMb > diskMb * STOP_ABOVE ? 'stop' : 'no start';
}

/** Shown with a container that was stopped for its disk. */
export const overQuotaReason = (usedMb: number, diskMb: number): string =>
  `over its disk size: ${usedMb} of ${diskMb} MB in /workspace, more than 110 %. Increase its disk size, then start it`;

/** MiB begun count as whole: what is over is over. */
export const toMb = (bytes: number): number => Math.ceil(bytes / 1_048_576);

/** A file system that new data would go to. `isPool`: only the engine's data is on it. */
export type HostSpace = { readonly freeBytes: number; readonly totalBytes: number; readonly isPool: boolean };

const FLOOR_SHARE = 0.1;
const FLOOR_BYTES = 5 * 1024 ** 3;

/** What must stay free: `floorMb`, else a tenth of the file system or 5 GiB, whichever is smaller. */
export const floorBytes = (totalBytes: number, floorMb: number | null): number =>
  floorMb === null ? Math.min(totalBytes * FLOOR_SHARE, FLOOR_BYTES) : floorMb * 1_048_576;

/** Whether any is below its floor; what is set is meant for the host, and a pool needs no more than a tenth of itself. */
export const isHostShort = (spaces: readonly HostSpace[], floorMb: number | null): boolean =>
  spaces.some((space) => space.freeBytes < floorOf(space, floorMb));

const floorOf = ({ totalBytes, isPool }: HostSpace, floorMb: number | null): number => {
  const floor = floorBytes(totalBytes, floorMb);
  return isPool ? Math.min(floor, totalBytes * FLOOR_SHARE) : floor;
};

/** Below half of the floor whatever fills it has to stop. */
export const isHostFilling = (space: HostSpace, floorMb: number | null): boolean =>
  space.freeBytes < floorOf(space, floorMb) / 2;

/** So much less, or a twentieth, is worth a look at who wrote it. */
const LOOK_AFTER_BYTES = 1024 ** 3;

/** What counts as a share in filling it: an eighth of what was left when it got critical. */
export const notableBytes = (space: HostSpace, floorMb: number | null): number =>
  Math.min(LOOK_AFTER_BYTES, space.totalBytes / 20, floorOf(space, floorMb) / 16 || Number.POSITIVE_INFINITY);

/** Whether writers are looked at, as free space was `seenBytes` at the last look or more since; null: never looked. */
export function isWorthALook(space: HostSpace, seenBytes: number | null, floorMb: number | null): boolean {
  const isFilling = isHostFilling(space, floorMb);
  if (seenBytes === null) return isFilling;
  const step = isFilling ? notableBytes(space, floorMb) : Math.min(LOOK_AFTER_BYTES, space.totalBytes / 20);
  return seenBytes - space.freeBytes > step;
}
