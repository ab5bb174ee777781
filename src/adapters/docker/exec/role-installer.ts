import { PACKAGE_MANAGERS } from '../../../domain/containers/catalogue.ts';
import type { ContainerCommands } from '../../../ports/containers/container-commands.ts';
import type { RoleInstaller } from '../../../ports/containers/role-installer.ts';
import { INSTALL_ROLE } from './role-script.ts';

const INSTALL_SECONDS = 1_800;

/** Our own program as root of the container; what the catalogue says comes as its arguments. */
export const dockerRoleInstaller = (commands: ContainerCommands): RoleInstaller => ({
  install(handle, { packages, script }) {
    const lists = PACKAGE_MANAGERS.map((manager) => (packages[manager] ?? []).join(' '));
    const command = ['sh', '-c', INSTALL_ROLE, 'berth', ...lists, script ?? ''];
    return commands.open(handle, { command, workdir: '/', timeoutSeconds: INSTALL_SECONDS });
  },
});
