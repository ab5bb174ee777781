import type { Clock } from '../../ports/clock.ts';
import type { ContainerEngine } from '../../ports/containers/container-engine.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { WarmPool } from './maintenance/warm-pool.ts';
import type { TerminalsOfContainers } from './operations/operation-deps.ts';
import type { Operations } from './operations/operations.ts';

export type ContainerSettings = {
  /** The engine for new containers. */
  readonly node: string;
  /** Free space that the host needs for anything new; null for the rule of `floorBytes`. */
  readonly diskFloorMb: number | null;
  /** How long a create waits for the container to run before it answers that it continues. */
  readonly createWaitMs: number;
};

export type ContainerDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerEngine;
  readonly clock: Clock;
  readonly operations: Operations;
  readonly terminals: Pick<TerminalsOfContainers, 'closeAll'>;
  readonly warmPool: Pick<WarmPool, 'reserve' | 'claim' | 'release'>;
  readonly log: Logger;
  readonly settings: ContainerSettings;
};

/** For work on timers, which stops containers that break a rule. */
export type UpkeepDeps = Pick<ContainerDeps, 'storage' | 'runtime' | 'terminals' | 'log'>;
