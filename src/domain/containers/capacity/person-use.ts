import type { Resources } from '../resources.ts';

/** What the things of one user use, as stored. */
export type PersonUse = {
  readonly userId: string;
  readonly username: string;
  /** null for a guest. */
  readonly email: string | null;
  readonly tier: string;
  /** Those that are not deleted, how many of them run, and how many the tier allows. */
  readonly containers: number;
  readonly running: number;
  readonly maxContainers: number;
  /** The sum of the limits of those that are not deleted. */
  readonly limits: Resources;
  /** Their volumes and what is outside, as last measured. */
  readonly diskUsedMb: number;
  /** Deleted containers and snapshots that are kept, and their disk. */
  readonly kept: number;
  readonly keptMb: number;
  readonly snapshots: number;
  readonly snapshotMb: number;
  readonly recordings: number;
  readonly recordingBytes: number;
  readonly terminals: number;
  /** Live API tokens. */
  readonly tokens: number;
  readonly lastSeenAt: Date | null;
};
