import { type KernelReading, NO_COUNTS, type SharedCounts } from '../../../domain/containers/kernel-share.ts';
import type { KernelShares } from '../../../ports/containers/kernel-shares.ts';
import type { memoryRuntime } from './container-runtime.ts';

/** Running containers use nothing, unless `taken` says otherwise. */
export function memoryKernelShares(runtime: ReturnType<typeof memoryRuntime>): KernelShares & {
  readonly taken: Map<string, Partial<SharedCounts>>;
  limits: KernelReading['limits'];
} {
  const taken = new Map<string, Partial<SharedCounts>>();
  return {
    taken,
    limits: { descriptorsInFlight: 1000, inotifyInstances: 1000 },
    async read() {
      const running = (await runtime.list()).filter(({ state }) => state === 'running');
      const shares = running.map(({ handle: { runtimeId } }) => {
        return { runtimeId, counts: { ...NO_COUNTS, ...taken.get(runtimeId) } };
      });
      return { limits: this.limits, totals: {}, shares };
    },
  };
}
