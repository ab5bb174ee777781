import type { ContainerRuntime } from '../../ports/container-runtime.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/repositories.ts';
import type { Terminals } from '../terminals.ts';

/** What carrying out an operation needs. */
export type OperationDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  readonly terminals: Pick<Terminals, 'closeAll'>;
  readonly log: Logger;
  /** This process: holds the leases of the operations that it works on. */
  readonly owner: string;
  /** Called before and after each step; where a test ends the process. */
  readonly checkpoint: (name: string) => Promise<void>;
  /** How long a fresh container is watched before it counts as up. */
  readonly verifyMs: number;
};

/** Another process has taken the operation over; this one must not touch it any more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
