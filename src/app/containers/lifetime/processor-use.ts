import { LRUCache } from 'lru-cache';
import { BUSY_MILLICORES } from '../../../domain/containers/lifetime/activity.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import { type ContainerInsight, LoadUnknown } from '../../../ports/containers/inside/container-insight.ts';
import type { LivingContainer } from '../../../ports/containers/lifetime/lifetime-repository.ts';

const MAX_CONTAINERS = 10_000;
/** A busy container with a small processor limit may miss the time for an answer again and again. */
const MIN_SILENT_SECONDS = 3_600;
/** A container was not asked for so long: a silence before says nothing about the time between. */
const MAX_GAP_SECONDS = 900;

/** `silent`: the container itself has given no answer for its whole idle time, and for an hour at least. */
export type ProcessorUse = 'busy' | 'idle' | 'silent';

type Silence = { readonly since: Date; readonly lastAsked: Date };

const secondsBetween = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 1_000;

/**
 * Returns a function that says whether a container uses its processor. Throws while that is unknown. Faults of a node or
 * an engine are not the container's silence.
 */
export function processorUse(insight: Pick<ContainerInsight, 'load'>) {
  const silences = new LRUCache<string, Silence>({ max: MAX_CONTAINERS });
  return async (living: LivingContainer, handle: RuntimeHandle): Promise<ProcessorUse> => {
    const { runtimeId } = handle;
    try {
      const { cpuMillicores } = await insight.load(handle);
      silences.delete(runtimeId);
      return cpuMillicores >= BUSY_MILLICORES ? 'busy' : 'idle';
    } catch (error) {
      const silence = error instanceof LoadUnknown ? silenceNow(living, silences.get(runtimeId)) : undefined;
      silences.set(runtimeId, silence);
      if (silence === undefined || !isLong(silence, living)) throw error;
      return 'silent';
    }
  };
}

function silenceNow({ container, now }: LivingContainer, before: Silence | undefined): Silence {
  const goesOn = before !== undefined && secondsBetween(before.lastAsked, now) <= MAX_GAP_SECONDS;
  const since = goesOn ? before.since : now;
  const times = [since, container.startedAt, container.lifetime.activeAt].map((time) => time?.getTime() ?? 0);
  return { since: new Date(Math.max(...times)), lastAsked: now };
}

const isLong = ({ since }: Silence, { container, now }: LivingContainer): boolean =>
  secondsBetween(since, now) >= Math.max(MIN_SILENT_SECONDS, container.lifetime.idleSeconds ?? 0);
