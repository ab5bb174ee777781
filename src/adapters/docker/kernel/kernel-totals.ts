import type { SharedCounts } from '../../../domain/containers/kernel-share.ts';
import { readText } from '../host/host-commands.ts';

/** The kernel's figures for a counter: total use and limit. */
export type KernelTotals = { readonly limits: Partial<SharedCounts>; readonly totals: Partial<SharedCounts> };

/** This machine's figures; `userId` is the containers' root. */
export async function ofTheKernel(userId: number): Promise<KernelTotals> {
  const number = async (name: string): Promise<number | undefined> => {
    const text = await readText(`/proc/sys/${name}`);
    return text === null ? undefined : Number(text);
  };
  const [inotify, pipes, ptys, reserve = 0, terminals] = await Promise.all(
    [
      'fs/inotify/max_user_instances',
      'fs/pipe-user-pages-soft',
      'kernel/pty/max',
      'kernel/pty/reserve',
      'kernel/pty/nr',
    ].map(number),
  );
  const [aioLimit, aio, connectionLimit, connections] = await Promise.all(
    ['fs/aio-max-nr', 'fs/aio-nr', 'net/netfilter/nf_conntrack_max', 'net/netfilter/nf_conntrack_count'].map(
      number,
    ),
  );
  const [processes, users] = await Promise.all(['/proc/self/limits', '/proc/key-users'].map(readText));
  const keys = keysOf(users ?? '', userId);
  return {
    limits: known({
      inotifyInstances: inotify,
      pipePages: pipes,
      terminals: ptys === undefined ? undefined : ptys - reserve,
      pendingSignals: limitOf(processes ?? '', 'Max pending signals'),
      // A user namespace has its creator's limit in all (setrlimit(2)).
      messageQueueBytes: limitOf(processes ?? '', 'Max msgqueue size'),
      keys: keys?.limit,
      aioRequests: aioLimit,
      connections: connectionLimit,
    }),
    totals: { ...known({ terminals, keys: keys?.used, aioRequests: aio, connections }) },
  };
}

/** Zero means no limit. */
const known = (counts: { readonly [K in keyof SharedCounts]?: number | undefined }): Partial<SharedCounts> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count));

const limitOf = (limits: string, title: string): number =>
  Number(new RegExp(`^${title}\\s+(\\d+)`, 'm').exec(limits)?.[1] ?? 0);

/**
 * A user's keys, from the text of /proc/key-users (keyrings(7)): `uid: uses keys/alive keys/most bytes/most`. If the
 * bytes run out first, they count as that share of the keys.
 */
export function keysOf(
  users: string,
  userId: number,
): { readonly used: number; readonly limit: number } | null {
  const line = new RegExp(`^\\s*${userId}:\\s+\\d+\\s+\\S+\\s+(\\d+)/(\\d+)\\s+(\\d+)/(\\d+)`, 'm').exec(
    users,
  );
  if (line === null) return null;
  const [keys = 0, most = 0, bytes = 0, mostBytes = 1] = line.slice(1).map(Number);
  return { used: Math.max(keys, Math.ceil((bytes / Math.max(1, mostBytes)) * most)), limit: most };
}
