import type Docker from 'dockerode';
import type { ContainerCommands } from '../../ports/container-commands.ts';
import type { ContainerFiles } from '../../ports/container-files.ts';
import type { ContainerInsight } from '../../ports/container-insight.ts';
import type { RoleInstaller } from '../../ports/role-installer.ts';
import { engineCalls } from './client.ts';
import { dockerCommands } from './container-commands.ts';
import { dockerFiles } from './container-files.ts';
import { dockerInsight } from './container-insight.ts';
import { ownership } from './ownership.ts';
import { dockerRoleInstaller } from './role-installer.ts';

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
