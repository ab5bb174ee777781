import { LRUCache } from 'lru-cache';
import { BUSY_MILLICORES } from '../../../domain/containers/lifetime/activity.ts';
import {
  ContainerNotRunning,
  type RuntimeHandle,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';

const MAX_CONTAINERS = 10_000;
/** So many questions in a row, of one pass each, may stay without an answer. */
const MAX_UNANSWERED = 30;

/**
 * Returns a function that says whether a container uses its processor. Where the container's own shell measures that, the
 * answer may be broken or missing: the function throws then, but counts the container as idle in the end, so that nobody
 * escapes an idle time this way.
 */
export function processorUse(insight: Pick<ContainerInsight, 'load'>) {
  const unanswered = new LRUCache<string, number>({ max: MAX_CONTAINERS });
  return async (handle: RuntimeHandle): Promise<boolean> => {
    const { runtimeId } = handle;
    try {
      const { cpuMillicores } = await insight.load(handle);
      unanswered.delete(runtimeId);
      return cpuMillicores >= BUSY_MILLICORES;
    } catch (error) {
      // These are not the container's doing.
      if (error instanceof RuntimeUnavailable || error instanceof ContainerNotRunning) throw error;
      const times = (unanswered.get(runtimeId) ?? 0) + 1;
      unanswered.set(runtimeId, times);
      if (times <= MAX_UNANSWERED) throw error;
      return false;
    }
  };
}
