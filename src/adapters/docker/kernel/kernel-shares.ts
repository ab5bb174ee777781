import { readlink } from 'node:fs/promises';
import {
  ALLOWANCE,
  type KernelShare,
  NO_COUNTS,
  SHORT_ABOVE,
  type SharedCounts,
} from '../../../domain/containers/kernel-share.ts';
import type { KernelShares } from '../../../ports/containers/kernel-shares.ts';
import { type ContainerGroup, containerGroups } from '../host/container-groups.ts';
import { readText, run, startTicks } from '../host/host-commands.ts';
import { type Budget, type Seen, scanProcesses } from '../host/process-scan.ts';
import { moreInFlight } from './in-flight-probe.ts';
import { ofTheKernel } from './kernel-totals.ts';
import { queueBytes, queueNames } from './message-queues.ts';
import { linesOf, withShortOnes } from './scarce-counters.ts';

/**
 * Descriptors read in one pass over all containers, about a quarter of a second; the rest comes first in the next one.
 */
const BUDGET = 50_000;
/** Of a container's list of unix sockets, some 60,000. */
const LIST_BYTES = 4 * 1024 * 1024;
/** Containers whose message queues are measured in one pass, as each takes a program; only changed ones. */
const QUEUE_PROBES = 8;
/**
 * The limits of each user in a container, charged to its creator; a container cannot raise them (user_namespaces(7)).
 */
const OF_ONE_USER = { max_inotify_instances: 1_024, max_inotify_watches: 524_288 } as const;

type Settings = {
  readonly instanceId: string;
  /** Open file limit of a process in a container: as many descriptors may be in flight for all of them. */
  readonly openFiles: number;
};

type Group = { readonly runtimeId: string; readonly pids: readonly number[] };
/** A container's state between two passes. */
type Known = {
  hidden: ReadonlySet<string>;
  first: number;
  started: string | null;
  queues: { readonly names: string; readonly bytes: number };
};
type Room = Budget & { probes: number };

/** The use of kernel counters by containers of an engine on this machine, according to /proc. */
export function dockerKernelShares({ instanceId, openFiles }: Settings): KernelShares {
  let known = new Map<string, Known>();
  let turn = 0;

  async function share(group: Group, budget: Room, isShort: boolean): Promise<KernelShare> {
    const { runtimeId, pids } = group;
    const now = known.get(runtimeId) ?? unknown();
    known.set(runtimeId, now);
    // Each start makes a new user namespace, often with the previous one's number.
    const oldest = Math.min(...pids);
    const started = `${oldest} ${await startTicks(oldest)}`;
    if (started !== now.started) await boundUsers(oldest);
    now.started = started;
    const seen = await scanProcesses([...pids.slice(now.first), ...pids.slice(0, now.first)], budget);
    now.first = seen.unseen === 0 ? 0 : (now.first + pids.length - seen.unseen) % pids.length;
    const hidden = isShort ? await hiddenSockets(pids[0], seen) : new Set<string>();
    const suspects = [...hidden].filter((inode) => now.hidden.has(inode)).length + (seen.unseen > 0 ? 1 : 0);
    now.hidden = hidden;
    // A socket in flight hides its contents, so it counts as enough to be stopped.
    const hiding = isShort ? suspects * (Math.floor(openFiles * ALLOWANCE) + 1) : 0;
    const messageQueueBytes = await measureQueues(now, oldest, seen, budget);
    const counts = { ...countsOf(seen), descriptorsInFlight: seen.inFlight + hiding, messageQueueBytes };
    return { runtimeId, counts };
  }

  return {
    async read() {
      const groups = await groupsOf(instanceId);
      if (groups === null) return null;
      const most = Math.floor(openFiles * SHORT_ABOVE);
      const root = await rootOf(groups[0]?.pids[0]);
      const isMore = await moreInFlight(root, most);
      known = new Map([...known].filter(([id]) => groups.some(({ runtimeId }) => runtimeId === id)));
      turn = groups.length === 0 ? 0 : (turn + 1) % groups.length;
      const budget = { left: BUDGET, probes: QUEUE_PROBES };
      const shares: KernelShare[] = [];
      for (const group of [...groups.slice(turn), ...groups.slice(0, turn)])
        shares.push(await share(group, budget, isMore === true));
      const { limits, totals } = await ofTheKernel(root);
      const reading = {
        limits: { ...limits, descriptorsInFlight: openFiles },
        totals: {
          ...totals,
          // The probe says nothing about the containers' other users, for whom visible ones count.
          ...(isMore === true ? { descriptorsInFlight: most + 1 } : {}),
        },
        shares,
      };
      const pidsOf = (id: string) => groups.find(({ runtimeId }) => runtimeId === id)?.pids ?? [];
      return { ...reading, shares: await withShortOnes(reading, pidsOf, root) };
    },
  };
}

const unknown = (): Known => ({
  hidden: new Set(),
  first: 0,
  started: null,
  queues: { names: '', bytes: 0 },
});

/** Measured when the set of queues changes. */
async function measureQueues(now: Known, pid: number, { queues }: Seen, room: Room): Promise<number> {
  const linked = await queueNames(pid);
  const names = [...[...linked].flat(), ...queues.keys()].join('/');
  if (names === now.queues.names || room.probes === 0) return now.queues.bytes;
  if (names !== '') room.probes -= 1;
  const bytes = await queueBytes(pid, [...linked.keys()], [...queues.values()]);
  if (bytes !== null) now.queues = { names, bytes };
  return now.queues.bytes;
}

const countsOf = (seen: Seen): SharedCounts => ({
  ...NO_COUNTS,
  inotifyInstances: seen.inotify,
  pipePages: seen.pipePages,
  pendingSignals: seen.pendingSignals,
  terminals: seen.terminals,
});

/** An installation's running containers and their processes; null where this machine has no such groups. */
async function groupsOf(instanceId: string): Promise<readonly Group[] | null> {
  const groups = await containerGroups('pids', instanceId);
  return groups === null ? null : (await Promise.all(groups.map(processesOf))).flat();
}

async function processesOf({ runtimeId, folder }: ContainerGroup): Promise<readonly Group[]> {
  const pids = ((await readText(`${folder}/cgroup.procs`)) ?? '').split('\n').map(Number);
  const found = pids.filter((pid) => pid > 0);
  return found.length === 0 ? [] : [{ runtimeId, pids: found }];
}

/** The host's user id of a container's root. */
async function rootOf(pid: number | undefined): Promise<number> {
  const map = pid === undefined ? null : await readText(`/proc/${pid}/uid_map`);
  return Number(/^\s*0\s+(\d+)/.exec(map ?? '')?.[1] ?? 0);
}

const userSpace = (pid: number | 'self'): Promise<string | null> =>
  readlink(`/proc/${pid}/ns/user`).catch(() => null);

/** Limits a container's own user namespace; one shared with the host stays unchanged. */
async function boundUsers(pid: number): Promise<void> {
  const [theirs, ours] = await Promise.all([userSpace(pid), userSpace('self')]);
  if (theirs === null || theirs === ours) return;
  const script = Object.entries(OF_ONE_USER).map(([name, most]) => `echo ${most} > /proc/sys/user/${name}`);
  await run('nsenter', ['--user', '--target', String(pid), 'sh', '-c', script.join('; ')], {
    timeoutSeconds: 5,
  });
}

/** Unix sockets of a container that no process of it has: they are in flight, with their contents. */
async function hiddenSockets(pid: number | undefined, { sockets }: Seen): Promise<ReadonlySet<string>> {
  const inodes: string[] = [];
  for await (const lines of linesOf(`/proc/${pid}/net/unix`, LIST_BYTES))
    for (const line of lines.split('\n')) inodes.push(line.split(/\s+/)[6] ?? '0');
  return new Set(inodes.filter((inode) => /^[1-9]\d*$/.test(inode) && !sockets.has(`socket:[${inode}]`)));
}
