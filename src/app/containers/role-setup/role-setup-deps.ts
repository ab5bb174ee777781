import type { Clock } from '../../../ports/clock.ts';
import type { ContainerRuntime } from '../../../ports/containers/container-runtime.ts';
import type { RoleInstaller } from '../../../ports/containers/role-installer.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';

export type RoleSetupDeps = {
  readonly storage: Storage;
  readonly runtime: Pick<ContainerRuntime, 'observe'>;
  readonly installer: RoleInstaller;
  readonly clock: Clock;
  readonly log: Logger;
  /** This process, which has the leases of the setups it works on. */
  readonly owner: string;
};
