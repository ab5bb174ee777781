import type { Origin } from '../domain/caller.ts';
import type { Operation } from '../domain/operation.ts';

export type OperationOutcome = 'done' | 'unchanged' | 'failed';

/** An operation with who asked for it and how far it is. */
export type StoredOperation = Operation & {
  readonly requestedBy: string;
  readonly origin: Origin;
  /** Keep what was installed outside the volume. */
  readonly carryOver: boolean;
  /** null until the engine has made the fresh container. */
  readonly freshRuntimeId: string | null;
  /** Image that the fresh container is made of; null for that of the row. */
  readonly freshImage: string | null;
  readonly leaseOwner: string;
  /** null while it is active. */
  readonly outcome: OperationOutcome | null;
};

/** What has become true while an operation is at work. */
export type Progress = Partial<
  Pick<StoredOperation, 'phase' | 'verified' | 'volumeKept' | 'freshRuntimeId' | 'freshImage'>
> & { readonly step?: string };

/** `owner` is the process that works on it; writes of one that has lost its lease change nothing. */
export interface OperationRepository {
  /** False when the container has an active one already. */
  begin(operation: Omit<StoredOperation, 'outcome'>, leaseSeconds: number): Promise<boolean>;
  find(id: string): Promise<StoredOperation | null>;
  active(dbId: string): Promise<StoredOperation | null>;
  /** Containers that have an active one. */
  busy(): Promise<ReadonlySet<string>>;
  /** False when the lease is another's, or it is finished. */
  record(id: string, owner: string, progress: Progress): Promise<boolean>;
  finish(id: string, owner: string, outcome: OperationOutcome): Promise<boolean>;
  /** Lengthens every lease of the owner. */
  renew(owner: string, leaseSeconds: number): Promise<void>;
  /** Ends the lease of one, so that any process may go on with it at once. */
  release(id: string, owner: string): Promise<void>;
  /**
   * Takes those whose lease is over; of several processes exactly one gets each. With `own` also those that the owner
   * holds itself: what an earlier run of the same replica has left.
   */
  takeOver(owner: string, leaseSeconds: number, own: boolean): Promise<readonly StoredOperation[]>;
}
