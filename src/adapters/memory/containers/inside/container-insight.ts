import { Readable } from 'node:stream';
import {
  ContainerNotRunning,
  type ContainerObserver,
  type RuntimeHandle,
} from '../../../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../../../ports/containers/inside/container-insight.ts';
import { requireRunning } from './container-commands.ts';

/** Containers that log a line per start, use little, and equal their image. */
export function memoryInsight(runtime: ContainerObserver): ContainerInsight {
  const load: ContainerInsight['load'] = async (handle) => {
    await requireRunning(runtime, handle);
    return { at: new Date(), cpuMillicores: 1, memoryBytes: 1_048_576, pids: 1, memoryKills: 0 };
  };
  const requireThere = async (handle: RuntimeHandle): Promise<void> => {
    if ((await runtime.observe(handle)).kind === 'gone')
      throw new ContainerNotRunning('no such container', true);
  };
  return {
    async logs(handle, { tail }) {
      await requireThere(handle);
      return Readable.from([Buffer.from(tail === 0 ? '' : 'started\n')]);
    },
    usage: async (handle) => ({ ...(await load(handle)), diskBytes: 0, maxProcesses: 512 }),
    load,
    async changes(handle) {
      await requireThere(handle);
      return { paths: [], complete: true, layerBytes: 0, debian: null };
    },
  };
}
