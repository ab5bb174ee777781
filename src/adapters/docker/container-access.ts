import type Docker from 'dockerode';
import type { ContainerCommands } from '../../ports/containers/container-commands.ts';
import type { ContainerFiles } from '../../ports/containers/container-files.ts';
import type { ContainerInsight } from '../../ports/containers/container-insight.ts';
import type { RoleInstaller } from '../../ports/containers/role-installer.ts';
import { engineCalls } from './engine/engine-client.ts';
import { ownership } from './engine/ownership.ts';
import { dockerCommands } from './exec/container-commands.ts';
import { dockerRoleInstaller } from './exec/role-installer.ts';
import { dockerFiles } from './files/container-files.ts';
import { dockerInsight } from './insight/container-insight.ts';

export type DockerAccess = {
  readonly commands: ContainerCommands;
  readonly files: ContainerFiles;
  readonly insight: ContainerInsight;
  readonly installer: RoleInstaller;
};

/** What looks into this installation's containers on one engine. */
export function dockerAccess(docker: Docker, instanceId: string): DockerAccess {
  const calls = engineCalls(docker);
  const own = ownership(calls, instanceId);
  const commands = dockerCommands(calls, own);
  return {
    commands,
    files: dockerFiles(calls, own),
    insight: dockerInsight(calls, own),
    installer: dockerRoleInstaller(commands),
  };
}
