import type { DomainError } from '../../errors.ts';
import { ok, type Result, refuse } from '../../result.ts';
import type { Tier } from '../resources.ts';

/** What an owner's snapshots use. Those that are given up do not count. */
export type SnapshotUse = {
  /** How many are in the owner's list, without failed ones. */
  readonly count: number;
  /** The disk of those that are not deleted, including those of forks. */
  readonly liveMb: number;
  /** The disk of deleted ones. */
  readonly deletedMb: number;
};

/** Live and deleted snapshots may use this many times the tier's disk. */
const KEPT_FACTOR = 2;

/** How much disk must be freed for another snapshot, by giving up deleted ones; 0 for none. */
export type SnapshotRoom = Result<{ readonly giveUpMb: number }, DomainError>;

/**
 * Whether another snapshot fits, and what must be freed for it. One for a fork is in no list, so only its disk counts.
 */
export function snapshotRoom(
  { maxSnapshots, snapshotMb }: Pick<Tier, 'maxSnapshots' | 'snapshotMb'>,
  { count, liveMb, deletedMb }: SnapshotUse,
  sizeMb: number,
  isForFork: boolean,
): SnapshotRoom {
  if (!isForFork && count >= maxSnapshots)
    return refuse({ code: 'snapshot_limit_reached', max: maxSnapshots });
  if (liveMb + sizeMb > snapshotMb)
    return refuse({ code: 'snapshot_space_reached', maxMb: snapshotMb, neededMb: sizeMb });
  return ok({ giveUpMb: Math.max(0, liveMb + deletedMb + sizeMb - KEPT_FACTOR * snapshotMb) });
}
