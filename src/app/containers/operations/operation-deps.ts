import type { Container } from '../../../domain/containers/container.ts';
import { standing } from '../../../domain/containers/operation.ts';
import type { ContainerInsight } from '../../../ports/containers/container-insight.ts';
import type { ContainerRuntime } from '../../../ports/containers/container-runtime.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { Terminals } from '../../terminals/terminals.ts';

/** What carrying out an operation needs. */
export type OperationDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  readonly insight: Pick<ContainerInsight, 'changes'>;
  readonly terminals: Pick<Terminals, 'closeAll'>;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'stepDone'>;
  /** This process: holds the leases of the operations that it works on. */
  readonly owner: string;
  /** Called before and after each step; where a test ends the process. */
  readonly checkpoint: (name: string) => Promise<void>;
  /** How long a fresh container is watched before it counts as up. */
  readonly verifyMs: number;
};

/** How far an operation is, and its row as it is then. */
export type Done = { readonly operation: StoredOperation; readonly container: Container };

/** Whether another try goes on with it: what was asked for may still be done. */
export const isUnderWay = ({ operation }: Done): boolean =>
  standing(operation, operation.outcome) === 'under_way';

/** Another process has taken the operation over; this one must not touch it any more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
