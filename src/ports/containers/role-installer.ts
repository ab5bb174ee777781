import type { Role } from '../../domain/containers/catalogue.ts';
import type { RunningCommand } from './container-commands.ts';
import type { RuntimeHandle } from './container-runtime.ts';

/**
 * Puts the tools of a role into a container, as its root. It can be done again, after any interruption: what an
 * earlier try has left at work in the container is ended first, and what is half done is mended.
 */
export interface RoleInstaller {
  /** Ends with 0 once all is there. Throws `ContainerNotRunning`. */
  install(handle: RuntimeHandle, role: Role): Promise<RunningCommand>;
}
