import type Docker from 'dockerode';
import type { ContainerInsight } from '../../ports/containers/inside/container-insight.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { type ShellAccess, shellAccess } from '../scripts/container-access.ts';
import { shellTerminals } from '../scripts/terminals/terminal-backend.ts';
import { engineCalls, inContainer } from './engine/engine-client.ts';
import { ownership } from './engine/ownership.ts';
import { dockerPrograms } from './exec/container-programs.ts';
import { dockerInsight } from './insight/container-insight.ts';

export type DockerAccess = ShellAccess & { readonly insight: ContainerInsight };

/** Access to the inside of this installation's containers on one engine. */
export function dockerAccess(docker: Docker, instanceId: string): DockerAccess {
  const calls = engineCalls(docker);
  const own = ownership(calls, instanceId);
  const insight = dockerInsight(calls, own, instanceId);
  return {
    ...shellAccess(dockerPrograms(calls), async (handle) => (await own.require(handle)).id),
    insight: {
      logs: (...args) => inContainer(insight.logs(...args)),
      usage: (...args) => inContainer(insight.usage(...args)),
      load: (...args) => inContainer(insight.load(...args)),
      changes: (...args) => inContainer(insight.changes(...args)),
    },
  };
}

/** Terminals in containers of one Docker engine. */
export function dockerTerminals(docker: Docker): TerminalBackend {
  const calls = engineCalls(docker);
  return shellTerminals(dockerPrograms(calls), ({ runtimeId, ownerId }) => {
    calls.slots.belongs(runtimeId, ownerId);
    return runtimeId;
  });
}
