import type { Clock } from '../../ports/clock.ts';
import type { ContainerRuntime } from '../../ports/containers/container-runtime.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ActRecords } from '../audit/activity-records.ts';
import type { WarmPool } from './maintenance/warm-pool.ts';
import type { TerminalsOfContainers } from './operations/operation-deps.ts';
import type { Operations } from './operations/operations.ts';

export type ContainerDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  /** The engine for new containers. */
  readonly runtimeNode: string;
  readonly clock: Clock;
  readonly operations: Operations;
  readonly terminals: Pick<TerminalsOfContainers, 'closeAll'>;
  readonly warmPool: Pick<WarmPool, 'claim'>;
  readonly acts: Pick<ActRecords, 'record'>;
  readonly log: Logger;
  /** Free space that the host needs for anything new; null for the rule of `floorBytes`. */
  readonly diskFloorMb: number | null;
  /** How long a create waits for the container to run before it answers that it continues. */
  readonly createWaitMs: number;
  /** For fault tests, which end the process here. */
  readonly checkpoint: (name: string) => Promise<void>;
};
