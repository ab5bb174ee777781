import type { HostFigures, LoadNow } from '../../../../domain/containers/capacity/capacity.ts';
import type { EngineHost } from '../../../../ports/containers/capacity/engine-host.ts';
import type { ContainerObserver } from '../../../../ports/containers/container-runtime.ts';

/** A machine of 8 cores and 16 GiB; its running containers use nothing, unless `taken` says otherwise. */
export type MemoryHost = EngineHost & {
  readonly taken: Map<string, LoadNow>;
  machine: HostFigures;
  isVisible: boolean;
};

const NOTHING: LoadNow = { cpuMillicores: 0, memoryBytes: 0 };

export const memoryHost = (runtime: Pick<ContainerObserver, 'list'>): MemoryHost => ({
  taken: new Map(),
  machine: {
    cpuMillicores: 8_000,
    cpuUsedMillicores: 1_000,
    memoryBytes: 16 * 1024 ** 3,
    memoryUsedBytes: 4 * 1024 ** 3,
    images: { count: 1, bytes: 200 * 1024 ** 2 },
  },
  isVisible: true,
  async figures() {
    return this.machine;
  },
  async loads() {
    if (!this.isVisible) return null;
    const running = (await runtime.list()).filter(({ state }) => state === 'running');
    return new Map(
      running.map(({ handle: { runtimeId } }) => [runtimeId, this.taken.get(runtimeId) ?? NOTHING]),
    );
  },
});
