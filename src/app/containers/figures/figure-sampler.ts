import { LRUCache } from 'lru-cache';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import { eachWithin } from '../../../concurrency/timeout.ts';
import { type Figures, withMeasured } from '../../../domain/containers/figures/figures.ts';
import {
  ContainerNotRunning,
  type RuntimeHandle,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';
import type { Logger } from '../../../ports/logger.ts';

/** About 2 kB each. Those that were longest without a request give way. */
const MAX_CONTAINERS = 2_000;
/** How long a container is measured after the last request for its figures. */
const FOLLOWED_MS = 900_000;
const AT_A_TIME = 8;
/** A pass does not wait longer for a container, whose own shell measures it and may never answer. */
const LATE_MS = 2_000;

export type SamplerDeps = {
  readonly insight: Pick<ContainerInsight, 'load'>;
  readonly monotonicMs: () => number;
  readonly log: Logger;
};

export type FigureSampler = ReturnType<typeof figureSampler>;

type Followed = { readonly handle: RuntimeHandle; readonly askedMs: number; figures: Figures | null };

/**
 * Measures the containers whose figures are requested, once for all viewers. The figures are kept in this process only,
 * and lost with it.
 */
export function figureSampler({ insight, monotonicMs, log }: SamplerDeps) {
  const followed = new LRUCache<string, Followed>({ max: MAX_CONTAINERS });
  const isStale = ({ askedMs }: Followed): boolean => monotonicMs() - askedMs > FOLLOWED_MS;

  async function measure(dbId: string): Promise<void> {
    const { handle } = followed.peek(dbId) ?? {};
    if (handle === undefined) return;
    try {
      const load = await insight.load(handle);
      const now = followed.peek(dbId);
      // why: it may have been recreated meanwhile
      if (now?.handle.runtimeId === handle.runtimeId) now.figures = withMeasured(now.figures, load);
    } catch (err) {
      if (err instanceof ContainerNotRunning || err instanceof RuntimeUnavailable) return;
      log.warn({ err, dbId }, 'a container could not be measured');
    }
  }

  const measureInTime = eachWithin(LATE_MS, (dbId: string) => dbId, measure);

  async function sample(): Promise<void> {
    for (const [dbId, one] of followed.entries()) if (isStale(one)) followed.delete(dbId);
    await forEachAtMost(AT_A_TIME, [...followed.keys()], measureInTime);
  }

  return {
    /** The figures of a running container, null before the first measurement; it is measured from now on. */
    follow(dbId: string, handle: RuntimeHandle): Figures | null {
      const known = followed.get(dbId);
      const figures = known?.figures ?? null;
      followed.set(dbId, { handle, askedMs: monotonicMs(), figures });
      return figures;
    },
    /** Measures these followed containers once, now. */
    measureNow: (dbIds: readonly string[]): Promise<void> => forEachAtMost(AT_A_TIME, dbIds, measureInTime),
    /** Measures all followed containers; for a timer. */
    sample: Object.assign(sample, { idle: measureInTime.idle }),
  };
}
