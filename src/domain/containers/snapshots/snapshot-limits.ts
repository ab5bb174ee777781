import type { DomainError } from '../../errors.ts';
import { ok, type Result, refuse } from '../../result.ts';
import type { Tier } from '../resources.ts';

/** What an owner's snapshots use. Those that are given up do not count. */
export type SnapshotUse = {
  /** How many are in the owner's list, without failed ones. */
  readonly count: number;
  /** The disk of those that are not deleted, including those of forks. */
  readonly liveMb: number;
  readonly deletedCount: number;
  /** The disk of deleted ones. */
  readonly deletedMb: number;
};

/** Live and deleted snapshots may be this many times the tier's number, and use this many times its disk. */
const KEPT_FACTOR = 2;

/** What must be freed for another snapshot, by giving up deleted ones: their disk, and their number. */
export type SnapshotsToGiveUp = { readonly mb: number; readonly count: number };

/**
 * Whether another snapshot fits, and what must be freed for it. One for a fork is in no list, so only its disk counts.
 */
export function snapshotRoom(
  { maxSnapshots, snapshotMb }: Pick<Tier, 'maxSnapshots' | 'snapshotMb'>,
  { count, liveMb, deletedCount, deletedMb }: SnapshotUse,
  sizeMb: number,
  isForFork: boolean,
): Result<SnapshotsToGiveUp, DomainError> {
  if (!isForFork && count >= maxSnapshots)
    return refuse({ code: 'snapshot_limit_reached', max: maxSnapshots });
  if (liveMb + sizeMb > snapshotMb)
    return refuse({ code: 'snapshot_space_reached', maxMb: snapshotMb, neededMb: sizeMb });
  const all = count + deletedCount + 1;
  return ok({
    mb: Math.max(0, liveMb + deletedMb + sizeMb - KEPT_FACTOR * snapshotMb),
    count: isForFork ? 0 : Math.max(0, all - KEPT_FACTOR * maxSnapshots),
  });
}
