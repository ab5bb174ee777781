import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readText } from '../host/host-commands.ts';

type Wanted = {
  /** As in sysctl. */
  readonly name: string;
  readonly atLeast: number;
  /** Zero means no limit. */
  readonly zeroIsNone?: boolean;
};

/**
 * Kernel limits that all containers share, and the values that a private engine raises them to: high enough that a
 * container's memory, which pays for these counters, ends before its neighbours are refused.
 */
export const SHARED_LIMITS: readonly Wanted[] = [
  // Every container and every process started in one takes a key; remapped ones are one user, with 200 in all
  // (keyrings(7)).
  { name: 'kernel.keys.maxkeys', atLeast: 20_000 },
  // A key takes about 70 bytes, so the number ends first.
  { name: 'kernel.keys.maxbytes', atLeast: 2_000_000 },
  // User namespaces charge their creator, this machine's root: 128 instances for all (inotify(7)).
  { name: 'fs.inotify.max_user_instances', atLeast: 65_536 },
  { name: 'fs.inotify.max_user_watches', atLeast: 4_194_304 },
  // In pages of 4 KiB per user; above it a new pipe has two instead of 16 (pipe(7)).
  { name: 'fs.pipe-user-pages-soft', atLeast: 1_048_576, zeroIsNone: true },
  { name: 'fs.epoll.max_user_watches', atLeast: 4_194_304 },
  { name: 'fs.file-max', atLeast: 1_000_000_000 },
  // Requests of io_setup(2), for all users.
  { name: 'fs.aio-max-nr', atLeast: 16_777_216 },
  // Terminals of all containers; the host keeps `kernel.pty.reserve` of them (pty(7)).
  { name: 'kernel.pty.max', atLeast: 65_536 },
  // 512 processes per container; as set by systemd.
  { name: 'kernel.pid_max', atLeast: 4_194_304 },
  // Neighbour entries of all network namespaces: a /20 has 4,094 (arp(7)).
  { name: 'net.ipv4.neigh.default.gc_thresh2', atLeast: 32_768 },
  { name: 'net.ipv4.neigh.default.gc_thresh3', atLeast: 65_536 },
];

type Low = Pick<Wanted, 'name' | 'atLeast'>;

const fileOf = (folder: string, { name }: Low): string => join(folder, ...name.split('.'));

/** The shared limits below their target. A limit unknown to this kernel is not included. */
export async function lowLimits(folder = '/proc/sys'): Promise<readonly Low[]> {
  const checks = SHARED_LIMITS.map(async (wanted) => {
    const text = (await readText(fileOf(folder, wanted)))?.trim() ?? '';
    const now = /^\d+$/.test(text) ? Number(text) : wanted.atLeast;
    return now >= wanted.atLeast || (now === 0 && wanted.zeroIsNone === true) ? [] : [wanted];
  });
  return (await Promise.all(checks)).flat();
}

/**
 * Raises this machine's shared limits until its next boot, never lowering one. Returns those that it could not raise.
 */
export async function raiseLimits(folder = '/proc/sys'): Promise<readonly Low[]> {
  for (const low of await lowLimits(folder))
    await writeFile(fileOf(folder, low), `${low.atLeast}\n`).catch(() => {});
  return await lowLimits(folder);
}

/** Advice for the operator about low limits, or null. */
export function limitsWarning(low: readonly Low[]): string | null {
  if (low.length === 0) return null;
  const settings = low.map(({ name, atLeast }) => `${name}=${atLeast}`).join(' ');
  return `one container can exhaust kernel limits that all share; raise them: sysctl -w ${settings}`;
}
