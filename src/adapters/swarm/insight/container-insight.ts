import { Readable } from 'node:stream';
import { ContainerNotRunning, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { inContainer } from '../../docker/engine/engine-client.ts';
import type { Ownership } from '../../docker/engine/ownership.ts';
import { dockerInsight } from '../../docker/insight/container-insight.ts';
import type { Swarm } from '../swarm.ts';

/** By the engines of the nodes. What a container printed, and what it had outside its volume, goes with its task. */
export function swarmInsight({ locator, settings: { instanceId } }: Swarm): ContainerInsight {
  // One for each engine: it keeps what it has read of a container.
  const insights = new WeakMap<EngineCalls, ContainerInsight>();
  const insightOf = (calls: EngineCalls): ContainerInsight => {
    const known = insights.get(calls) ?? dockerInsight(calls, located(calls), instanceId);
    insights.set(calls, known);
    return known;
  };
  const onNode = <T>(
    { runtimeId, ...handle }: RuntimeHandle,
    work: (insight: ContainerInsight, there: RuntimeHandle) => Promise<T>,
  ): Promise<T> =>
    locator.inside(runtimeId, async ({ calls, containerId }) => {
      return await inContainer(work(insightOf(calls), { ...handle, runtimeId: containerId }));
    });
  return {
    logs: (handle, request) =>
      onNode(handle, (insight, there) => insight.logs(there, request)).catch(
        stoppedIs(() => Readable.from([])),
      ),
    usage: (handle) => onNode(handle, (insight, there) => insight.usage(there)),
    load: (handle) => onNode(handle, (insight, there) => insight.load(there)),
    changes: (handle) =>
      onNode(handle, (insight, there) => insight.changes(there)).catch(
        stoppedIs(() => ({ paths: [], complete: true, layerBytes: 0, debian: null })),
      ),
  };
}

/** A service of this installation named the container already. */
function located({ docker }: EngineCalls): Ownership {
  const of = async ({ runtimeId }: RuntimeHandle) => docker.getContainer(runtimeId);
  return { require: of, find: of, remember: () => {}, forget: () => {} };
}

const stoppedIs =
  <T>(value: () => T) =>
  (error: unknown): T => {
    if (error instanceof ContainerNotRunning && !error.isGone) return value();
    throw error;
  };
