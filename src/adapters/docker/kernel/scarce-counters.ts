import { open } from 'node:fs/promises';
import {
  type KernelReading,
  type KernelShare,
  type SharedCounter,
  shortCounters,
} from '../../../domain/containers/kernel-share.ts';
import { readText, run } from '../host/host-commands.ts';

/** For all processes of a container. */
const MAPS_BYTES = 4 * 1024 * 1024;
/** Some 80,000 connections of the packet filter's table, which is hashed, so that its beginning is a sample. */
const CONNECTIONS_BYTES = 16 * 1024 * 1024;
const SECONDS = 5;
/** io_setup(2) allocates twice the requested events, 32 bytes each. */
const BYTES_OF_A_REQUEST = 64;

/** Adds the expensive counters to the shares where they are short. `userId` is the containers' root. */
export async function withShortOnes(
  reading: KernelReading,
  pidsOf: (runtimeId: string) => readonly number[],
  userId: number,
): Promise<readonly KernelShare[]> {
  const short = shortCounters(reading);
  const isShort = (counter: SharedCounter): boolean => short.includes(counter);
  const keys = isShort('keys') ? await keysByContainer(userId) : new Map<string, number>();
  const sources = isShort('connections') ? await connectionsByAddress() : new Map<string, number>();
  const read = [...sources.values()].reduce((sum, count) => sum + count, 0);
  // A table too long to be read is extrapolated from its beginning.
  const scale = Math.max(1, (reading.totals.connections ?? 0) / Math.max(1, read));
  const shares: KernelShare[] = [];
  for (const { runtimeId, counts } of reading.shares) {
    const pids = pidsOf(runtimeId);
    const addresses = sources.size === 0 ? [] : await addressesOf(pids[0]);
    const connections = addresses.reduce((sum, address) => sum + (sources.get(address) ?? 0), 0);
    const found = {
      keys: keys.get(runtimeId) ?? 0,
      aioRequests: isShort('aioRequests') ? await aioRequestsOf(pids) : 0,
      connections: Math.round(connections * scale),
    };
    shares.push({ runtimeId, counts: { ...counts, ...found } });
  }
  return shares;
}

/** The processes' io_setup requests, by the memory they take. */
export async function aioRequestsOf(pids: readonly number[]): Promise<number> {
  let [requests, left] = [0, MAPS_BYTES];
  for (const pid of pids) {
    for await (const lines of linesOf(`/proc/${pid}/maps`, left)) {
      left -= lines.length;
      requests += aioRequestsIn(lines);
    }
    if (left <= 0) break;
  }
  return requests;
}

export function aioRequestsIn(maps: string): number {
  const rings = maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) .* \/\[aio\]/gm);
  const bytes = [...rings].reduce(
    (sum, [, from = '0', to = '0']) => sum + Number.parseInt(to, 16) - Number.parseInt(from, 16),
    0,
  );
  return Math.floor(bytes / BYTES_OF_A_REQUEST);
}

/** The session keys per container, which the runtime names after it; `userId` is their owner. */
async function keysByContainer(userId: number): Promise<ReadonlyMap<string, number>> {
  const user = String(userId);
  // No user sees another's keys, not even root.
  const args = ['--reuid', user, '--regid', user, '--clear-groups', 'cat', '/proc/keys'];
  const { code, stdout } = await run('setpriv', args, { timeoutSeconds: SECONDS });
  return counted(new Map(), code === 0 ? keysIn(stdout) : []);
}

export const keysIn = (list: string): Iterable<RegExpMatchArray> => list.matchAll(/ _ses\.([0-9a-f]{64}):/g);

/** Connections per address, as far as read. */
async function connectionsByAddress(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const lines of linesOf('/proc/net/nf_conntrack', CONNECTIONS_BYTES))
    counted(counts, sourcesIn(lines));
  return counts;
}

/** A line's first address is the connection's origin. */
export const sourcesIn = (table: string): Iterable<RegExpMatchArray> => table.matchAll(/^.*? src=(\S+)/gm);

const addressesOf = async (pid: number | undefined): Promise<readonly string[]> =>
  addressesIn((await readText(`/proc/${pid}/net/fib_trie`)) ?? '');

export function addressesIn(routes: string): readonly string[] {
  const local = routes.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g);
  return [...new Set([...local].map(([, address = '']) => address))].filter(
    (each) => !each.startsWith('127.'),
  );
}

export function counted(counts: Map<string, number>, found: Iterable<RegExpMatchArray>): Map<string, number> {
  for (const [, key = ''] of found) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** The beginning of a file in /proc, in pieces of some 64 KiB of whole lines, so that others get a turn in between. */
export async function* linesOf(path: string, maxBytes: number): AsyncGenerator<string> {
  const file = maxBytes <= 0 ? null : await open(path).catch(() => null);
  if (file === null) return;
  let rest = '';
  try {
    for await (const chunk of file.createReadStream({ end: maxBytes - 1, autoClose: false })) {
      const text = rest + (chunk as Buffer).toString('latin1');
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      if (end > 0) yield text.slice(0, end);
    }
  } catch {
    // its process has ended
  } finally {
    await file.close();
  }
}
