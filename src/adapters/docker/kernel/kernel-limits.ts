import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readText } from '../host/host-commands.ts';

type Wanted = {
  /** As sysctl names it. */
  readonly name: string;
  readonly atLeast: number;
  /** Zero stands for no limit at all. */
  readonly zeroIsNone?: boolean;
};

/**
 * Limits of the kernel that all containers share, and what they are raised to when a private engine starts: so much that the
 * memory of a container ends before its neighbours are refused, as the kernel charges what is counted here to that memory.
 */
export const SHARED_LIMITS: readonly Wanted[] = [
  // Every container and every process started in one takes a key; remapped ones have one user, with 200 in all (keyrings(7)).
  { name: 'kernel.keys.maxkeys', atLeast: 20_000 },
  // One takes about 70 bytes: so the number ends first.
  { name: 'kernel.keys.maxbytes', atLeast: 2_000_000 },
  // User namespaces charge their maker, which is root of this machine: 128 instances for all (inotify(7)).
  { name: 'fs.inotify.max_user_instances', atLeast: 65_536 },
  { name: 'fs.inotify.max_user_watches', atLeast: 4_194_304 },
  // In pages of 4 KiB, for one user; above it a new pipe has two of them instead of 16 (pipe(7)).
  { name: 'fs.pipe-user-pages-soft', atLeast: 1_048_576, zeroIsNone: true },
  { name: 'fs.epoll.max_user_watches', atLeast: 4_194_304 },
  { name: 'fs.file-max', atLeast: 1_000_000_000 },
  // Requests of io_setup(2), counted over all users.
  { name: 'fs.aio-max-nr', atLeast: 16_777_216 },
  // Terminals of all containers; this machine's own keep `kernel.pty.reserve` of them (pty(7)).
  { name: 'kernel.pty.max', atLeast: 65_536 },
  // 512 processes of each container; as systemd sets it.
  { name: 'kernel.pid_max', atLeast: 4_194_304 },
  // Neighbours on the network that the kernel remembers, over all network namespaces: a /20 has 4,094 (arp(7)).
  { name: 'net.ipv4.neigh.default.gc_thresh2', atLeast: 32_768 },
  { name: 'net.ipv4.neigh.default.gc_thresh3', atLeast: 65_536 },
];

type Low = Pick<Wanted, 'name' | 'atLeast'>;

const fileOf = (folder: string, { name }: Low): string => join(folder, ...name.split('.'));

/** The shared limits that are lower than they should be. One that this kernel does not have is not. */
export async function lowLimits(folder = '/proc/sys'): Promise<readonly Low[]> {
  const looked = SHARED_LIMITS.map(async (wanted) => {
    const text = (await readText(fileOf(folder, wanted)))?.trim() ?? '';
    const now = /^\d+$/.test(text) ? Number(text) : wanted.atLeast;
    return now >= wanted.atLeast || (now === 0 && wanted.zeroIsNone === true) ? [] : [wanted];
  });
  return (await Promise.all(looked)).flat();
}

/** Raises the shared limits of this machine until its next boot; none is lowered. Answers those that it could not raise. */
export async function raiseLimits(folder = '/proc/sys'): Promise<readonly Low[]> {
  for (const low of await lowLimits(folder))
    await writeFile(fileOf(folder, low), `${low.atLeast}\n`).catch(() => {});
  return await lowLimits(folder);
}

/** What the operator can do about limits that are low, or null. */
export function limitsWarning(low: readonly Low[]): string | null {
  if (low.length === 0) return null;
  const settings = low.map(({ name, atLeast }) => `${name}=${atLeast}`).join(' ');
  return `one container can exhaust kernel limits that all share; raise them: sysctl -w ${settings}`;
}
