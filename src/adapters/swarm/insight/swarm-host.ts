import type { EngineHost } from '../../../ports/containers/capacity/engine-host.ts';
import type { SwarmNode } from '../client/objects.ts';
import type { Swarm } from '../swarm.ts';

const NANO_PER_MILLI = 1_000_000;

/** All nodes in use together. What their programs use is for their administrator to watch. */
export const swarmHost = ({ nodes }: Swarm): EngineHost => ({
  async figures() {
    const ready = await nodes.schedulable();
    const sum = (of: (node: SwarmNode) => number | undefined): number =>
      ready.reduce((total, node) => total + (of(node) ?? 0), 0);
    return {
      cpuMillicores: Math.floor(sum(({ Description }) => Description.Resources?.NanoCPUs) / NANO_PER_MILLI),
      cpuUsedMillicores: null,
      memoryBytes: sum(({ Description }) => Description.Resources?.MemoryBytes),
      memoryUsedBytes: null,
      images: null,
    };
  },
  loads: async () => null,
});
