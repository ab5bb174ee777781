import { Readable } from 'node:stream';
import { ContainerNotRunning, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';
import { inContainer } from '../../docker/engine/engine-client.ts';
import { ownership } from '../../docker/engine/ownership.ts';
import { dockerInsight } from '../../docker/insight/container-insight.ts';
import type { Swarm } from '../swarm.ts';

/** By the engines of the nodes. What a container printed, and what it had outside its volume, goes with its task. */
export function swarmInsight({ locator, settings: { instanceId } }: Swarm): ContainerInsight {
  const onNode = <T>(
    { runtimeId, ...handle }: RuntimeHandle,
    work: (insight: ContainerInsight, there: RuntimeHandle) => Promise<T>,
  ): Promise<T> =>
    locator.inside(runtimeId, async ({ calls, containerId }) => {
      const insight = dockerInsight(calls, ownership(calls, instanceId), instanceId);
      return await inContainer(work(insight, { ...handle, runtimeId: containerId }));
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

const stoppedIs =
  <T>(value: () => T) =>
  (error: unknown): T => {
    if (error instanceof ContainerNotRunning && !error.isGone) return value();
    throw error;
  };
