import type { RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import { diskBytes } from '../scripts/insight/disk-usage.ts';
import { accessThrough } from '../scripts/queued-programs.ts';
import type { ApiClient } from './client/api-client.ts';
import { podOfContainer } from './containers/names.ts';
import { MAIN } from './containers/pod-states.ts';
import { clusterPrograms, type ProgramDeps } from './exec/container-programs.ts';
import type { PodContainer } from './exec/exec-socket.ts';
import { clusterInsight } from './insight/container-insight.ts';

export type InsideDeps = Pick<ProgramDeps, 'observe' | 'node'> & { readonly client: ApiClient };

const podContainerOf = (runtimeId: string): PodContainer => ({
  pod: podOfContainer(runtimeId),
  container: MAIN,
});

/** Access to the inside of an installation's containers in one cluster. */
export function clusterInside({ client, ...deps }: InsideDeps) {
  const programs = clusterPrograms({ access: client.access, podContainerOf, ...deps });
  return {
    ...accessThrough(programs),
    insight: clusterInsight({ client, podContainerOf, programs, ...deps }),
    /** Bytes used in the volume of a running container. */
    usedBytes: ({ runtimeId }: RuntimeHandle, withinSeconds?: number) =>
      diskBytes(programs, runtimeId, withinSeconds),
  };
}
