import { LRUCache } from 'lru-cache';
import type { HostFigures, LoadNow } from '../../../domain/containers/capacity/capacity.ts';
import type { HostSpace } from '../../../domain/containers/disk-quota.ts';
import type { EngineHost } from '../../../ports/containers/capacity/engine-host.ts';
import type { ContainerDisk } from '../../../ports/containers/container-disk.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';

const FRESH_MS = 5_000;

/** The engine's machine at one time; `host` and `loads` are null when unknown. */
export type HostReading = {
  readonly host: HostFigures | null;
  readonly spaces: readonly HostSpace[];
  readonly loads: ReadonlyMap<string, LoadNow> | null;
};

export type HostReadingDeps = {
  readonly host: EngineHost;
  readonly runtime: Pick<ContainerDisk, 'hostSpace'>;
  readonly monotonicMs: () => number;
};

/** Reads the machine once for all who ask within five seconds. */
export function hostReading({ host, runtime, monotonicMs }: HostReadingDeps): () => Promise<HostReading> {
  const read = async (): Promise<HostReading> => {
    const [figures, spaces, loads] = await Promise.all([
      orWithout(host.figures(), null),
      orWithout(runtime.hostSpace(), []),
      orWithout(host.loads(), null),
    ]);
    return { host: figures, spaces, loads };
  };
  const perf = { now: monotonicMs };
  const options = { max: 1, ttl: FRESH_MS, ttlResolution: 0, perf, fetchMethod: read };
  const kept = new LRUCache<'now', HostReading>(options);
  return () => kept.forceFetch('now');
}

/** The rest is known without the engine. */
async function orWithout<T>(reading: Promise<T>, without: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return without;
    throw error;
  }
}
