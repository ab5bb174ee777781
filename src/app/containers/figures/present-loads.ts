import { LRUCache } from 'lru-cache';
import type { LoadNow } from '../../../domain/containers/capacity/capacity.ts';
import type { EngineHost } from '../../../ports/containers/capacity/engine-host.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';

/** As long as the figures of a row are shown, so that an order does not change more often. */
const FRESH_MS = 20_000;

/** What running containers use, by runtime id; without those that nobody can see. */
export type PresentLoads = () => Promise<ReadonlyMap<string, LoadNow>>;

/** Reads the control groups of all containers once for all who ask within 20 s, without a call of the engine. */
export function presentLoads(host: Pick<EngineHost, 'loads'>, monotonicMs: () => number): PresentLoads {
  const read = async (): Promise<ReadonlyMap<string, LoadNow>> => {
    try {
      return (await host.loads()) ?? new Map();
    } catch (error) {
      if (error instanceof RuntimeUnavailable) return new Map();
      throw error;
    }
  };
  const perf = { now: monotonicMs };
  const options = { max: 1, ttl: FRESH_MS, ttlResolution: 0, perf, fetchMethod: read };
  const kept = new LRUCache<'now', ReadonlyMap<string, LoadNow>>(options);
  return () => kept.forceFetch('now');
}
