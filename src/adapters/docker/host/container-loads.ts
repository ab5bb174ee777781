import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { LoadNow } from '../../../domain/containers/capacity/capacity.ts';
import { readText } from './host-commands.ts';

/** Readings this far apart say what the processor does now. */
const MIN_APART_MS = 200;
const MAX_APART_MS = 60_000;
const APART_MS = 300;
const AT_A_TIME = 16;

const ROOT = '/sys/fs/cgroup';

/** A container's processor time so far, and its memory without caches that the kernel can reclaim. */
type Reading = { readonly cpuMicroseconds: number; readonly memoryBytes: number };
type Sample = { readonly atMs: number; readonly readings: ReadonlyMap<string, Reading> };

/**
 * What an installation's running containers use, by runtime id, read from their control groups: a few small files for each,
 * no call of the engine. null where this machine has no such groups.
 */
export function containerLoads(group: string): () => Promise<ReadonlyMap<string, LoadNow> | null> {
  let last: Sample | null = null;
  return async () => {
    const elapsedMs = last === null ? Number.POSITIVE_INFINITY : performance.now() - last.atMs;
    const isUseful = elapsedMs >= MIN_APART_MS && elapsedMs <= MAX_APART_MS;
    const before = isUseful ? last : await sampleOf(group);
    if (before === null) return null;
    if (!isUseful) await delay(APART_MS);
    const now = await sampleOf(group);
    last = now;
    return now === null ? null : loadsBetween(before, now);
  };
}

const loadsBetween = (before: Sample, now: Sample): ReadonlyMap<string, LoadNow> =>
  new Map(
    [...now.readings].map(([id, { cpuMicroseconds, memoryBytes }]) => {
      const earlier = before.readings.get(id)?.cpuMicroseconds ?? cpuMicroseconds;
      const used = Math.max(0, cpuMicroseconds - earlier) / (now.atMs - before.atMs);
      return [id, { cpuMillicores: Math.round(used), memoryBytes }];
    }),
  );

async function sampleOf(group: string): Promise<Sample | null> {
  const folders = await foldersOf(group);
  if (folders === null) return null;
  const readings = new Map<string, Reading>();
  const atMs = performance.now();
  await forEachAtMost(AT_A_TIME, folders.names, async (name) => {
    const id = /^(?:docker-)?([0-9a-f]{64})(?:\.scope)?$/.exec(name)?.[1];
    const reading = id === undefined ? null : await folders.read(name);
    if (id !== undefined && reading !== null) readings.set(id, reading);
  });
  return { atMs, readings };
}

type Folders = {
  readonly names: readonly string[];
  readonly read: (name: string) => Promise<Reading | null>;
};

/** Folders of cgroup v1, which has a tree for each controller, or of v2, which has a single tree. */
async function foldersOf(group: string): Promise<Folders | null> {
  const slice = `${group.split('-')[0]}.slice/${group}.slice`;
  for (const inside of [group, slice]) {
    const v1Names = await readdir(`${ROOT}/memory/${inside}`).catch(() => null);
    if (v1Names !== null) return { names: v1Names, read: (name) => readV1(`${inside}/${name}`) };
    const v2Names = await readdir(`${ROOT}/${inside}`).catch(() => null);
    if (v2Names !== null) return { names: v2Names, read: (name) => readV2(`${ROOT}/${inside}/${name}`) };
  }
  return null;
}

async function readV1(folder: string): Promise<Reading | null> {
  const [memory, statistics, nanoseconds] = await Promise.all(
    ['memory/{}/memory.usage_in_bytes', 'memory/{}/memory.stat', 'cpuacct/{}/cpuacct.usage'].map((file) =>
      readText(`${ROOT}/${file.replace('{}', folder)}`),
    ),
  );
  if (memory == null || nanoseconds == null) return null;
  const reclaimable = numberAt(statistics ?? '', 'total_inactive_file');
  return {
    cpuMicroseconds: Number(nanoseconds) / 1000,
    memoryBytes: Math.max(0, Number(memory) - reclaimable),
  };
}

async function readV2(folder: string): Promise<Reading | null> {
  const [memory, statistics, processor] = await Promise.all(
    ['memory.current', 'memory.stat', 'cpu.stat'].map((file) => readText(`${folder}/${file}`)),
  );
  if (memory == null || processor == null) return null;
  const reclaimable = numberAt(statistics ?? '', 'inactive_file');
  return {
    cpuMicroseconds: numberAt(processor, 'usage_usec'),
    memoryBytes: Math.max(0, Number(memory) - reclaimable),
  };
}

const numberAt = (text: string, key: string): number =>
  Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
