import type { Quota } from '../../domain/containers/disk-quota.ts';
import type { PoolMember, PoolModel, WatchedMember } from '../../domain/containers/warm-pool.ts';

export type NewMember = Omit<PoolModel, 'isOlder'> & Pick<PoolMember, 'dbId' | 'volume'>;

/** A started member, and how the size of its volume is enforced; null while unknown. */
export type MadeMember = { readonly runtimeId: string; readonly quota: Quota | null };

/** The member that a create needs. */
export type PoolClaim = Pick<PoolModel, 'node' | 'image' | 'imageId'> & {
  /** null: any size. */
  readonly diskMb: number | null;
};

/** The rows of the warm pool. `owner` is the process that makes or removes a member. */
export interface WarmPoolRepository {
  /** Oldest first. `abandoned`: its lease has expired or, with `own`, is of an earlier run of the owner. */
  list(owner: string, own: boolean): Promise<readonly WatchedMember[]>;
  /** Db ids of all members: their containers belong to the pool. */
  ids(): Promise<ReadonlySet<string>>;
  /** Inserts a member to be made, unless `size` are ready or being made, also under concurrency. */
  begin(member: NewMember, size: number, owner: string, leaseSeconds: number): Promise<boolean>;
  /** False when this owner has lost it. */
  markReady(dbId: string, owner: string, made: MadeMember): Promise<boolean>;
  /** Takes a member out of the pool for removal. False when it was claimed or is being removed. */
  retire(dbId: string, owner: string, leaseSeconds: number): Promise<boolean>;
  /** Deletes a removed member's row. */
  forget(dbId: string, owner: string): Promise<void>;
  /** Takes a ready member out of the pool, oldest first: each goes to one caller, and none waits for another. */
  claim(claim: PoolClaim): Promise<PoolMember | null>;
}
