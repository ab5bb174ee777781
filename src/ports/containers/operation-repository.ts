import type { LossReport } from '../../domain/containers/loss-report.ts';
import type { Operation } from '../../domain/containers/operation.ts';
import type { Origin } from '../../domain/identity/caller.ts';

export type OperationOutcome = 'done' | 'unchanged' | 'failed';

/** An operation with who asked for it and how far it is. */
export type StoredOperation = Operation & {
  readonly requestedBy: string;
  readonly origin: Origin;
  /** null until the engine has made the fresh container. */
  readonly freshRuntimeId: string | null;
  /** What the old container has outside the volume; null when that is not known. */
  readonly leftBehind: LossReport | null;
  readonly leaseOwner: string;
  /** null while it is active. */
  readonly outcome: OperationOutcome | null;
};

/** What has become true while an operation is at work. */
export type Progress = Partial<
  Pick<
    StoredOperation,
    | 'phase'
    | 'verified'
    | 'unfitted'
    | 'volumeKept'
    | 'freshRuntimeId'
    | 'snapshotImage'
    | 'measured'
    | 'leftBehind'
  >
> & { readonly step?: string };

/** `owner` is the process that works on it; writes of one that has lost its lease change nothing. */
export interface OperationRepository {
  /** False when the container has an active one already. `step` is the one that comes first. */
  begin(operation: Omit<StoredOperation, 'outcome'>, leaseSeconds: number, step?: string): Promise<boolean>;
  find(id: string): Promise<StoredOperation | null>;
  active(dbId: string): Promise<StoredOperation | null>;
  /** Containers that have an active one. */
  busy(): Promise<ReadonlySet<string>>;
  /**
   * False when the lease is another's, or it is finished, or it is committed and would not stay so. The owner may not
   * know of its commit, as the answer to that can be lost.
   */
  record(id: string, owner: string, progress: Progress): Promise<boolean>;
  /** False as with `record`; what is committed cannot fail. */
  finish(id: string, owner: string, outcome: OperationOutcome, progress?: Progress): Promise<boolean>;
  /** Lengthens the owner's leases of these; one that nobody works on has to end, also when its owner lives. */
  renew(owner: string, ids: readonly string[], leaseSeconds: number): Promise<void>;
  /** Ends the lease of one, so that any process may go on with it at once. */
  release(id: string, owner: string): Promise<void>;
  /**
   * Takes those whose lease is over; of several processes exactly one gets each. With `own` also those that the owner
   * holds itself: what an earlier run of the same replica has left.
   */
  takeOver(owner: string, leaseSeconds: number, own: boolean): Promise<readonly StoredOperation[]>;
}
