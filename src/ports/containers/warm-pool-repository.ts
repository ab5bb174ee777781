import type { Quota } from '../../domain/containers/disk-quota.ts';
import type { PoolMember, PoolModel, WatchedMember } from '../../domain/containers/warm-pool.ts';

export type NewMember = Omit<PoolModel, 'isOlder' | 'quota'> & Pick<PoolMember, 'dbId' | 'volume'>;

/** A started member, and how the size of its volume is enforced; null while unknown. */
export type MadeMember = { readonly runtimeId: string; readonly quota: Quota | null };

/** The member that a create needs. A member of unknown quota fits. */
export type PoolClaim = Pick<PoolModel, 'node' | 'image' | 'imageId' | 'quota'> & {
  /** null: any size. */
  readonly diskMb: number | null;
};

/** A member as it was read: what has another state by now is left unchanged. */
export type SeenMember = Pick<PoolMember, 'dbId' | 'state'>;

/** The rows of the warm pool. `owner` is the process that makes, claims or removes a member. */
export interface WarmPoolRepository {
  /** Oldest first. `abandoned`: its lease has expired or, with `own`, is of an earlier run of the owner. */
  list(owner: string, own: boolean): Promise<readonly WatchedMember[]>;
  /** Db ids of all members: their containers belong to the pool. */
  ids(): Promise<ReadonlySet<string>>;
  /** Inserts a member to be made, unless `size` are ready or being made, also under concurrency. */
  begin(member: NewMember, size: number, owner: string, leaseSeconds: number): Promise<boolean>;
  /** Extends the lease of a member that this owner makes or removes. */
  renew(dbId: string, owner: string, leaseSeconds: number): Promise<void>;
  /** False when this owner has lost it. */
  markReady(dbId: string, owner: string, made: MadeMember): Promise<boolean>;
  /** Takes a member out of the pool for removal. False when it has changed, or another process has it. */
  retire(member: SeenMember, owner: string, leaseSeconds: number): Promise<boolean>;
  /** Deletes the row of a member that this owner claims or removes. False when it has changed, or another has it. */
  forget(member: SeenMember, owner: string): Promise<boolean>;
  /** Deletes only the row of a member that may be a user's container. False as for `retire`. */
  leave(member: SeenMember, owner: string): Promise<boolean>;
  /** Begins to claim a ready member, oldest first: each goes to one caller, and none waits for another. */
  reserve(claim: PoolClaim, owner: string, leaseSeconds: number): Promise<PoolMember | null>;
}
