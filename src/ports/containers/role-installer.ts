import type { Role } from '../../domain/containers/catalogue.ts';
import type { RunningCommand } from './container-commands.ts';
import type { RuntimeHandle } from './container-runtime.ts';

/**
 * Installs a role's tools in a container, as its root. Repeatable after any interruption: it first ends an earlier
 * attempt's programs and repairs a half-done installation.
 */
export interface RoleInstaller {
  /** Exits with 0 when complete. Throws `ContainerNotRunning`. */
  install(handle: RuntimeHandle, role: Role): Promise<RunningCommand>;
}
