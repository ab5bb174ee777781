import type { DomainError } from '../../errors.ts';
import { ok, type Result, refuse } from '../../result.ts';
import type { Tier } from '../resources.ts';

/** An owner's snapshots. Those that are given up count for nothing. */
export type SnapshotUse = {
  /** Those in the owner's list, without failed ones. */
  readonly count: number;
  /** The disk of all that are not deleted, those of forks too. */
  readonly liveMb: number;
  /** The disk of deleted ones. */
  readonly deletedMb: number;
};

/** Live and deleted snapshots may use this many times the tier's disk. */
const KEPT_FACTOR = 2;

/** What another snapshot of `sizeMb` needs: nothing, or so much room made by giving up deleted ones. */
export type SnapshotRoom = Result<{ readonly giveUpMb: number }, DomainError>;

/** Whether another snapshot fits. One for a fork is in no list, so only its disk counts. */
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
