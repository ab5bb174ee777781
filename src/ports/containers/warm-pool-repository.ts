import type { PoolMember, PoolModel, WatchedMember } from '../../domain/containers/warm-pool.ts';

export type NewMember = PoolModel & Pick<PoolMember, 'dbId' | 'volume'>;

/** What a create can be served with. */
export type PoolClaim = Pick<PoolModel, 'node' | 'image' | 'imageId'> & {
  /** null: of any size. */
  readonly diskMb: number | null;
};

/** The rows of the warm pool. `owner` is the process that makes or removes a member. */
export interface WarmPoolRepository {
  /** Oldest first. `abandoned` when the lease is over, or, with `own`, the owner's: from an earlier run of it. */
  list(owner: string, own: boolean): Promise<readonly WatchedMember[]>;
  /** Db ids of all members: containers with these belong to the pool. */
  ids(): Promise<ReadonlySet<string>>;
  /** Writes one down to be made, unless `size` are ready or being made already; however many try at once. */
  begin(member: NewMember, size: number, owner: string, leaseSeconds: number): Promise<boolean>;
  /** False when it is no longer this owner's to make. */
  markReady(dbId: string, owner: string, runtimeId: string): Promise<boolean>;
  /** Takes one out of the pool to remove it. False when it has been claimed, or another removes it. */
  retire(dbId: string, owner: string, leaseSeconds: number): Promise<boolean>;
  /** Forgets one that this owner has removed. */
  forget(dbId: string, owner: string): Promise<void>;
  /** Takes a ready one out of the pool, the oldest first: each goes to one caller alone, and none waits for another. */
  claim(claim: PoolClaim): Promise<PoolMember | null>;
}
