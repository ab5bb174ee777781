import { readdir, stat, statfs } from 'node:fs/promises';
import { floorBytes } from '../../../domain/containers/disk-quota.ts';
import { missingPackages } from '../engine/host-packages.ts';
import { lastLines, readText, run } from '../host/host-commands.ts';
import { MOUNT_POOL } from './engine-pool-scripts.ts';
import type { Layout } from './private-engine-paths.ts';

const MIB = 1024 * 1024;
/** The base image and a few layers. */
const LEAST_BYTES = 1024 * MIB;
const LEAST_SET_MB = 256;
/** Growing may need a check of the whole file system, so small steps are omitted. */
const GROWS_BY = 1.25;
/** ext4's default for larger file systems; for a small one that would be too much. */
const JOURNAL_MIB = { most: 64, least: 4 };
const LOCK_SECONDS = 60;
const WORK_SECONDS = 600;

export type PoolRequest = {
  /** null: half of the host's space above its floor. 0: none. */
  readonly poolMb: number | null;
  /** Free space that the host needs, as for `floorBytes`. */
  readonly floorMb: number | null;
};

/** Why the engine's data has no file system of its own; null when it has. */
export type PoolFault = string | null;

const TOOLS = {
  'mkfs.ext4': 'e2fsprogs',
  e2fsck: 'e2fsprogs',
  resize2fs: 'e2fsprogs',
  losetup: 'mount',
  flock: 'util-linux',
} as const;

export const missingPoolPackages = async (): Promise<readonly string[]> => [
  ...new Set(await missingPackages(TOOLS)),
];

/**
 * Mounts the pool at the engine's data, creating it on a machine without engine data. Existing data without a pool
 * stays. Throws only when an existing pool cannot be mounted, since the engine would be empty.
 */
export async function mountPool(at: Layout, request: PoolRequest): Promise<PoolFault> {
  const image = await stat(at.pool).catch(() => null);
  if (image === null) {
    if (request.poolMb === 0) return 'it is turned off';
    if ((await readdir(at.storage).catch(() => [])).length > 0) return 'its data is older than this option';
  }
  const have = image === null ? null : { bytes: image.size, allocated: image.blocks * 512 };
  const bytes = await wantedBytes(at.home, request, have);
  const journal = Math.max(JOURNAL_MIB.least, Math.min(JOURNAL_MIB.most, Math.floor(bytes / MIB / 64)));
  const script = ['sh', '-c', MOUNT_POOL, 'berth', at.pool, at.dataRoot, String(bytes), String(journal)];
  const command = ['-w', String(LOCK_SECONDS), `${at.pool}.lock`, ...script];
  const { code, stderr } = await run('flock', command, { timeoutSeconds: WORK_SECONDS });
  if (code === 0) return null;
  const fault = `its file system could not be mounted: ${lastLines(stderr, 2)}`;
  if (await exists(at.pool)) throw new Error(`${at.pool}: ${fault}`);
  return fault;
}

export async function poolFault(at: Layout): Promise<PoolFault> {
  const mounts = ((await readText('/proc/self/mountinfo')) ?? '').split('\n').map((line) => line.split(' '));
  const isPool = mounts.some(([, , device, , point]) => point === at.dataRoot && device?.startsWith('7:'));
  return isPool ? null : 'it was started without its own';
}

type Have = { readonly bytes: number; readonly allocated: number };

/** The other half of the host's free space is for volumes. */
async function wantedBytes(
  home: string,
  { poolMb, floorMb }: PoolRequest,
  have: Have | null,
): Promise<number> {
  if (poolMb !== null && poolMb > 0) return Math.max(poolMb, LEAST_SET_MB) * MIB;
  const { bavail, blocks, bsize } = await statfs(home);
  const usable = bavail * bsize + (have?.allocated ?? 0) - floorBytes(blocks * bsize, floorMb);
  return poolBytes(usable, have?.bytes ?? 0);
}

/** The pool's size for this much space above the host's floor, when it has `haveBytes` now. */
export function poolBytes(usableBytes: number, haveBytes: number): number {
  const wanted = Math.max(LEAST_BYTES, Math.floor(usableBytes / 2 / MIB) * MIB);
  return haveBytes > 0 && wanted < haveBytes * GROWS_BY ? haveBytes : wanted;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
