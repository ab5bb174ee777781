import type { Container } from '../../../domain/containers/container.ts';
import { standing } from '../../../domain/containers/operation.ts';
import type { Origin } from '../../../domain/identity/caller.ts';
import type { CloseReason } from '../../../domain/terminals/terminal.ts';
import type { ContainerInsight } from '../../../ports/containers/container-insight.ts';
import type { ContainerRuntime } from '../../../ports/containers/container-runtime.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';

/** How long an operation or an installation stays with its process without a renewal. */
export const LEASE_SECONDS = 15;

/** What the end of a container does to the terminals in it. */
export type TerminalsOfContainers = {
  /** Closes every terminal of a container, in every process. */
  closeAll(dbId: string, reason: CloseReason): void;
  /** Of a container that is deleted, in the transaction that does it. */
  endShares(tx: Repositories, dbId: string, origin: Origin): Promise<void>;
};

/** What carrying out an operation needs. */
export type OperationDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  readonly insight: Pick<ContainerInsight, 'changes'>;
  readonly terminals: TerminalsOfContainers;
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
export type OperationState = { readonly operation: StoredOperation; readonly container: Container };

/** Whether another try goes on with it: what was asked for may still be done. */
export const isUnderWay = ({ operation }: OperationState): boolean =>
  standing(operation, operation.outcome) === 'under_way';

/** Another process has taken the operation over; this one must not touch it any more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
