import type { Container } from '../../../domain/containers/container.ts';
import { standing } from '../../../domain/containers/operation.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import type { CloseReason } from '../../../domain/terminals/terminal.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';

/** Life of an unrenewed lease of an operation or installation. */
export const LEASE_SECONDS = 15;

export type TerminalsOfContainers = {
  /** Closes all terminals of a container, in every process. */
  closeAll(dbId: string, reason: CloseReason): void;
  /** For a delete, in its transaction. */
  endShares(tx: Repositories, dbId: string, origin: RequestOrigin): Promise<void>;
};

/** For fault tests, which end the process here. */
export type Checkpoint = (name: string) => Promise<void>;

export type StepObserver = {
  /** Called before and after each step. */
  readonly checkpoint: Checkpoint;
  readonly done: Metrics['stepDone'];
  /** Called when an operation has ended or continues in the background: role setups may be due. */
  readonly submitted: () => void;
  /** Called before a container stops. Never throws. */
  readonly beforeStop: (container: Container) => Promise<void>;
};

export type OperationDeps = {
  readonly storage: Storage;
  readonly runtime: ContainerEngine;
  readonly insight: Pick<ContainerInsight, 'changes'>;
  readonly terminals: TerminalsOfContainers;
  readonly log: Logger;
  readonly steps: StepObserver;
  /** This process, which has the leases of the operations it works on. */
  readonly owner: string;
  /** How long a fresh container must run to be verified. */
  readonly verifyMs: number;
};

export type OperationState = { readonly operation: StoredOperation; readonly container: Container };

/** What a request has already asked of the engine. */
export type EngineReady = {
  /** A ping's answer. Until then nothing begins. */
  readonly answers: Promise<void>;
  /** Settles when the container can be observed. Awaited only for that. */
  readonly observable?: Promise<void>;
};

/** The answer to a ping, asked while the request is checked: a wrong one is refused even with no engine. */
export function pinged({ runtime }: Pick<OperationDeps, 'runtime'>): Promise<void> {
  const answering = runtime.ping();
  answering.catch(() => undefined);
  return answering;
}

/** Whether a retry continues it: the request may still be done. */
export const isUnderWay = ({ operation }: OperationState): boolean =>
  standing(operation, operation.outcome) === 'under_way';

/** Thrown by a step that must wait for another operation; it is retried. */
export class NotYet extends Error {
  override name = 'NotYet';
}

/** Another process has taken over the operation; this one must leave it. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
