import type { Clock } from '../../ports/clock.ts';
import type { ContainerRuntime } from '../../ports/containers/container-runtime.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ActRecords } from '../audit/activity-records.ts';
import type { WarmPool } from './maintenance/warm-pool.ts';
import type { TerminalsOfContainers } from './operations/operation-deps.ts';
import type { Operations } from './operations/operations.ts';

/** What the use cases of containers share. */
export type ContainerDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  /** Node that new containers are placed on. */
  readonly runtimeNode: string;
  readonly clock: Clock;
  readonly operations: Operations;
  readonly terminals: Pick<TerminalsOfContainers, 'closeAll'>;
  readonly warmPool: Pick<WarmPool, 'claim'>;
  readonly acts: Pick<ActRecords, 'record'>;
  readonly log: Logger;
  /** What must stay free on the host for anything new; null for the rule of `floorBytes`. */
  readonly diskFloorMb: number | null;
  /** How long a create waits for the container to run before it answers that it is still at it. */
  readonly createWaitMs: number;
  /** Where a test ends the process. */
  readonly checkpoint: (name: string) => Promise<void>;
};
