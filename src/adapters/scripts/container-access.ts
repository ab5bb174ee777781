import type { ContainerCommands, RoleInstaller } from '../../ports/containers/inside/container-commands.ts';
import type { ContainerFiles } from '../../ports/containers/inside/container-files.ts';
import type { ContainerPrograms, FindRuntimeId } from '../../ports/containers/inside/container-programs.ts';
import type { FileSearch } from '../../ports/containers/inside/file-search.ts';
import type { ContainerProcesses } from '../../ports/containers/processes/container-processes.ts';
import { shellCommands } from './exec/container-commands.ts';
import { shellRoleInstaller } from './exec/role-installer.ts';
import { shellFiles } from './files/container-files.ts';
import { shellFileSearch } from './files/search/file-search.ts';
import { shellProcesses } from './processes/container-processes.ts';

export type ShellAccess = {
  readonly commands: ContainerCommands;
  readonly processes: ContainerProcesses;
  readonly files: ContainerFiles;
  readonly fileSearch: FileSearch;
  readonly installer: RoleInstaller;
};

/** Access to the inside of one engine's containers, by scripts for their `sh`. */
export function shellAccess(programs: ContainerPrograms, find: FindRuntimeId): ShellAccess {
  const commands = shellCommands(programs, find);
  return {
    commands,
    processes: shellProcesses(commands),
    files: shellFiles(programs, find),
    fileSearch: shellFileSearch(programs, find),
    installer: shellRoleInstaller(commands),
  };
}
