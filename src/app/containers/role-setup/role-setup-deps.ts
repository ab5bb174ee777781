import type { Clock } from '../../../ports/clock.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import type { RoleInstaller } from '../../../ports/containers/inside/container-commands.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';

export type RoleSetupDeps = {
  readonly storage: Storage;
  readonly runtime: Pick<ContainerEngine, 'observe' | 'capabilities'>;
  readonly installer: RoleInstaller;
  readonly clock: Clock;
  readonly log: Logger;
  /** This process, which has the leases of the setups it works on. */
  readonly owner: string;
};
