import type { Clock } from '../../../ports/clock.ts';
import type { ContainerProcesses } from '../../../ports/containers/processes/container-processes.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';

export type ProcessDeps = {
  readonly storage: Storage;
  readonly processes: ContainerProcesses;
  readonly clock: Clock;
  readonly log: Logger;
};
