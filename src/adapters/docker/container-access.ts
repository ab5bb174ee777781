import type Docker from 'dockerode';
import type { ContainerCommands, RoleInstaller } from '../../ports/containers/inside/container-commands.ts';
import type { ContainerFiles } from '../../ports/containers/inside/container-files.ts';
import type { ContainerInsight } from '../../ports/containers/inside/container-insight.ts';
import type { FileSearch } from '../../ports/containers/inside/file-search.ts';
import type { ContainerProcesses } from '../../ports/containers/processes/container-processes.ts';
import { engineCalls, inContainer } from './engine/engine-client.ts';
import { ownership } from './engine/ownership.ts';
import { dockerCommands } from './exec/container-commands.ts';
import { dockerRoleInstaller } from './exec/role-installer.ts';
import { dockerFiles } from './files/container-files.ts';
import { dockerFileSearch } from './files/search/file-search.ts';
import { dockerInsight } from './insight/container-insight.ts';
import { shellProcesses } from './processes/container-processes.ts';

export type DockerAccess = {
  readonly commands: ContainerCommands;
  readonly processes: ContainerProcesses;
  readonly files: ContainerFiles;
  readonly fileSearch: FileSearch;
  readonly insight: ContainerInsight;
  readonly installer: RoleInstaller;
};

/** Access to the inside of this installation's containers on one engine. */
export function dockerAccess(docker: Docker, instanceId: string): DockerAccess {
  const calls = engineCalls(docker);
  const own = ownership(calls, instanceId);
  const running = dockerCommands(calls, own);
  const files = dockerFiles(calls, own);
  const search = dockerFileSearch(calls, own);
  const insight = dockerInsight(calls, own, instanceId);
  const commands: ContainerCommands = { open: (...args) => inContainer(running.open(...args)) };
  return {
    commands,
    processes: shellProcesses(commands),
    files: {
      open: (...args) => inContainer(files.open(...args)),
      write: (...args) => inContainer(files.write(...args)),
      remove: (...args) => inContainer(files.remove(...args)),
    },
    fileSearch: {
      search: (...args) => inContainer(search.search(...args)),
      watch: (...args) => inContainer(search.watch(...args)),
    },
    insight: {
      logs: (...args) => inContainer(insight.logs(...args)),
      usage: (...args) => inContainer(insight.usage(...args)),
      load: (...args) => inContainer(insight.load(...args)),
      changes: (...args) => inContainer(insight.changes(...args)),
    },
    installer: dockerRoleInstaller(commands),
  };
}
