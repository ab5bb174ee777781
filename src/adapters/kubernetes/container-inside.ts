import type { RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../ports/containers/inside/container-insight.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { type ShellAccess, shellAccess } from '../scripts/container-access.ts';
import { diskBytes } from '../scripts/insight/disk-usage.ts';
import { shellTerminals } from '../scripts/terminals/terminal-backend.ts';
import type { ApiClient } from './client/api-client.ts';
import { podOfContainer } from './containers/names.ts';
import { MAIN } from './containers/pod-states.ts';
import { type ClusterPrograms, clusterPrograms, type ProgramDeps } from './exec/container-programs.ts';
import type { PodContainer } from './exec/exec-socket.ts';
import { clusterInsight } from './insight/container-insight.ts';

export type ClusterInside = ShellAccess & {
  readonly insight: ContainerInsight;
  readonly terminals: TerminalBackend;
  /** Bytes used in the volume of a running container. */
  readonly usedBytes: (handle: RuntimeHandle) => Promise<number | null>;
  readonly turns: Pick<ClusterPrograms, 'listen' | 'waiting'>;
};

export type InsideDeps = Pick<ProgramDeps, 'observe' | 'node'> & { readonly client: ApiClient };

const podContainerOf = (runtimeId: string): PodContainer => ({
  pod: podOfContainer(runtimeId),
  container: MAIN,
});

/** Access to the inside of an installation's containers in one cluster. */
export function clusterInside({ client, ...deps }: InsideDeps): ClusterInside {
  const programs = clusterPrograms({ access: client.access, podContainerOf, ...deps });
  return {
    ...shellAccess(programs, async (handle) => programs.idOf(handle)),
    insight: clusterInsight({ client, podContainerOf, programs, ...deps }),
    terminals: shellTerminals(programs, programs.idOf),
    turns: programs,
    usedBytes: ({ runtimeId }) => diskBytes(programs, runtimeId),
  };
}
