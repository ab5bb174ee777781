import type { LossReport } from '../../domain/containers/layer/loss-report.ts';
import type { Operation } from '../../domain/containers/operation.ts';
import type { EngineRefusal } from '../../domain/errors.ts';
import type { RequestOrigin } from '../../domain/identity/caller.ts';

export type OperationOutcome = 'done' | 'unchanged' | 'failed';

/** An operation, its requester and its progress. */
export type StoredOperation = Operation & {
  /** null: the service itself. */
  readonly requestedBy: string | null;
  readonly origin: RequestOrigin;
  /** Shown to the owner as the reason of the new state; null when somebody requested it. */
  readonly reason: string | null;
  /** null until the engine has made the fresh container. */
  readonly freshRuntimeId: string | null;
  /** The loss report of the old container; null when unknown. */
  readonly leftBehind: LossReport | null;
  /** Why the engine did not do it; null for a fault, and unless it failed. */
  readonly refusal: EngineRefusal | null;
  readonly leaseOwner: string;
  /** Of its leases: each takeover has the next one. */
  readonly leaseNumber: number;
  /** null while it is active. */
  readonly outcome: OperationOutcome | null;
};

/** Newly known facts of an operation. */
export type Progress = Partial<
  Pick<
    StoredOperation,
    | 'phase'
    | 'verified'
    | 'unfitted'
    | 'wasDown'
    | 'volumeKept'
    | 'freshRuntimeId'
    | 'layerImage'
    | 'measured'
    | 'leftBehind'
    | 'refusal'
    | 'snapshot'
  >
> & { readonly step?: string };

/** `owner` is the working process. Writes after its lease has expired change nothing. */
export interface OperationRepository {
  /** False when the container has an active one. `step` is the first step. */
  begin(operation: Omit<StoredOperation, 'outcome'>, leaseSeconds: number, step?: string): Promise<boolean>;
  find(id: string): Promise<StoredOperation | null>;
  active(dbId: string): Promise<StoredOperation | null>;
  /** Containers with an active operation. */
  busy(): Promise<ReadonlySet<string>>;
  /** Whether an active one has paused this container of the engine, or is about to. */
  isPausing(runtimeId: string): Promise<boolean>;
  /**
   * False when the lease is another's, or the operation is finished, or a commit would be undone: its owner may not
   * know of the commit, whose answer can be lost.
   */
  record(id: string, owner: string, progress: Progress): Promise<boolean>;
  /** False as with `record`; a committed one cannot fail. */
  finish(id: string, owner: string, outcome: OperationOutcome, progress?: Progress): Promise<boolean>;
  /** Renews the owner's leases of these. Others expire although their owner lives. */
  renew(owner: string, ids: readonly string[], leaseSeconds: number): Promise<void>;
  /** Ends the owner's lease of this number, so that any process may continue at once. Ends no later lease. */
  release(id: string, owner: string, leaseNumber: number): Promise<void>;
  /**
   * Takes over expired ones; exactly one process gets each. `own`: also the owner's, left by an earlier run of this
   * replica.
   */
  takeOver(owner: string, leaseSeconds: number, own: boolean): Promise<readonly StoredOperation[]>;
}
