import { LRUCache } from 'lru-cache';
import { ContainerNotRunning } from '../../../ports/containers/container-runtime.ts';
import type { ContainerLoad, ContainerUsage } from '../../../ports/containers/inside/container-insight.ts';
import { cpuSeenInside } from '../../scripts/insight/cpu-usage.ts';
import { diskReader } from '../../scripts/insight/disk-usage.ts';
import { MAX_PROCESSES } from '../containers/create-options.ts';
import { type EngineCalls, LIMITS } from '../engine/engine-client.ts';
import { dockerPrograms } from '../exec/container-programs.ts';

const FRESH_MS = 1000;
/** Closer readings say little about the processor. */
const MIN_APART_MS = 200;
const MAX_APART_MS = 30_000;
const MAX_KNOWN = 1000;

export type Statistics = {
  readonly read: string;
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: {
    readonly usage?: number;
    readonly failcnt?: number;
    readonly stats?: Readonly<Record<string, number>>;
  };
  readonly pids_stats?: { readonly current?: number };
};

export type Sample = { readonly at: number; readonly statistics: Statistics };

export type UsageReader = {
  readonly usage: (id: string) => Promise<ContainerUsage>;
  /** Starts a program in the container only for its first reading in a while. */
  readonly load: (id: string) => Promise<ContainerLoad>;
};

/** The kernel's own count of a container's programs ended for memory; null where it is out of sight. */
export type KillsOf = (id: string) => Promise<number | null>;

/**
 * Reads containers' statistics, one call per container at a time, shared by concurrent requests and cached for a
 * second.
 */
export function usageReader(calls: EngineCalls, killsOf: KillsOf): UsageReader {
  const samples = new LRUCache<string, Sample>({ max: MAX_KNOWN });
  const disk = diskReader(dockerPrograms(calls));
  const read = async (id: string): Promise<ContainerLoad> => {
    const before = samples.get(id);
    samples.delete(id);
    const now = await sample(calls, id);
    samples.set(id, now);
    const [cpuMillicores, kills] = await Promise.all([cpuOf(calls, id, before, now), killsOf(id)]);
    const figures = figuresOf(now);
    return { ...figures, cpuMillicores, memoryKills: kills ?? figures.memoryKills };
  };
  const answers = new LRUCache<string, ContainerLoad>({
    max: MAX_KNOWN,
    ttl: FRESH_MS,
    ignoreFetchAbort: true,
    fetchMethod: read,
  });
  const load = (id: string): Promise<ContainerLoad> => answers.forceFetch(id);
  // The load first: it refuses a container that does not run, of which no figure is to be cached.
  const usage = async (id: string): Promise<ContainerUsage> => {
    const now = await load(id);
    return { ...now, diskBytes: await disk(id), maxProcesses: MAX_PROCESSES };
  };
  return { usage, load };
}

async function sample(calls: EngineCalls, id: string): Promise<Sample> {
  const reading = async (abortSignal: AbortSignal): Promise<Statistics> => {
    const options = { stream: false as const, 'one-shot': true, abortSignal };
    return (await calls.docker.getContainer(id).stats(options)) as Statistics;
  };
  const statistics = await calls.work.figures(id, () => calls.read(LIMITS.inspect, reading));
  const at = Date.parse(statistics.read);
  // The engine reports a stopped container this way.
  if (!(at > 0)) throw new ContainerNotRunning('container is not running', false);
  return { at, statistics };
}

/** From an earlier reading if useful, else from two new ones. */
async function cpuOf(
  calls: EngineCalls,
  id: string,
  before: Sample | undefined,
  now: Sample,
): Promise<number> {
  if (isUseful(before, now)) return millicores(before, now);
  const seen = await cpuSeenInside(dockerPrograms(calls), id).catch(() => null);
  return seen ?? millicores(now, await sample(calls, id));
}

const usedBy = ({ statistics }: Sample): number => statistics.cpu_stats?.cpu_usage?.total_usage ?? 0;

/** Far enough apart, and of the same start of the container. */
function isUseful(before: Sample | undefined, now: Sample): before is Sample {
  const apart = before === undefined ? 0 : now.at - before.at;
  return (
    before !== undefined && apart >= MIN_APART_MS && apart <= MAX_APART_MS && usedBy(before) <= usedBy(now)
  );
}

/** Millicores are nanoseconds of processor time per microsecond. */
export const millicores = (before: Sample, now: Sample): number =>
  Math.max(0, Math.round((usedBy(now) - usedBy(before)) / (Math.max(1, now.at - before.at) * 1000)));

export function figuresOf({ at, statistics }: Sample): Omit<ContainerLoad, 'cpuMillicores'> {
  const { usage = 0, failcnt = 0, stats = {} } = statistics.memory_stats ?? {};
  const given = stats['total_inactive_file'] ?? stats['inactive_file'] ?? 0;
  return {
    at: new Date(at),
    memoryBytes: Math.max(0, usage - given),
    pids: statistics.pids_stats?.current ?? 0,
    // why: in cgroup v1, known by its totals, the engine counts every time that caches were reclaimed
    memoryKills: 'total_inactive_file' in stats ? null : failcnt,
  };
}
