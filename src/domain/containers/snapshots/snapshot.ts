import type { FieldFaults } from '../../field-faults.ts';
import { nameFaults } from '../container.ts';
import type { LossReport } from '../layer/loss-report.ts';
import { type Labels, labelFaults } from '../lifetime/labels.ts';
import type { Resources } from '../resources.ts';
import type { RoleSetup } from '../role-setup.ts';

/**
 * A container's files at one time: an image of its layer and a copy of its volume. Memory and programs are not in it.
 *
 *   creating --taken--> ready --deleted--> kept for the retention, then removed
 *      |
 *      +--a fault--> failed, and what was copied is removed
 */
export type SnapshotState = 'creating' | 'ready' | 'failed';

export type Snapshot = {
  readonly id: string;
  readonly ownerId: string;
  /** The container that it was taken of, which may no longer exist. */
  readonly dbId: string;
  readonly containerName: string;
  readonly name: string;
  readonly note: string;
  readonly labels: Labels;
  readonly state: SnapshotState;
  /** The catalogue's image that the container was made of. */
  readonly imageKey: string;
  readonly image: string;
  readonly shell: string;
  readonly role: string;
  /** Whether the role's tools were installed. */
  readonly roleSetupStatus: RoleSetup['status'];
  readonly resources: Resources;
  /** The private image with the layer; null until it exists. */
  readonly layerImage: string | null;
  /** The changes of the layer to the catalogue's image; null when unknown. */
  readonly layerChanges: LossReport | null;
  /** The engine name of the copy of the volume. */
  readonly volume: string;
  /** As measured; an estimate from the container until it is ready. */
  readonly layerMb: number;
  readonly volumeMb: number;
  /** The containers that it was taken for, by a fork; null for a snapshot that its owner keeps. */
  readonly forkIds: readonly string[] | null;
  readonly createdAt: Date;
  readonly deletedAt: Date | null;
};

export const snapshotVolume = (id: string): string => `snap-${id}`;

/**
 * What a volume's own file system takes besides its files: the journal of `mkfs.ext4 -J size=32`, and the tables that
 * an empty one has. Every snapshot counts it, since an empty one is not free.
 */
export const FILE_SYSTEM_MB = 34;

/** What a snapshot counts against its owner's tier. */
export const snapshotMb = ({ layerMb, volumeMb }: Pick<Snapshot, 'layerMb' | 'volumeMb'>): number =>
  layerMb + volumeMb + FILE_SYSTEM_MB;

export type SnapshotRequest = { readonly name: string; readonly note: string; readonly labels: Labels };

const MAX_NOTE_LENGTH = 500;
const CONTROL = /\p{Cc}/u;

/**
 * Faults of a request: the name must be like a container's, the note at most 500 characters without control characters.
 */
export const snapshotFaults = ({ name, note, labels }: SnapshotRequest): FieldFaults => ({
  ...nameFaults(name),
  ...labelFaults(labels),
  ...(note.length > MAX_NOTE_LENGTH || CONTROL.test(note)
    ? { note: `must be at most ${MAX_NOTE_LENGTH} characters without control characters` }
    : {}),
});

export const MAX_FORKS = 8;
const MAX_NAME_LENGTH = 64;

/** Names of forks: the given one, numbered if there are several; else the container's name with `suffix`. */
export function forkNames(
  containerName: string,
  name: string | undefined,
  count: number,
  suffix: string,
): readonly string[] {
  const base = name ?? `${containerName.slice(0, MAX_NAME_LENGTH - suffix.length - 8)}-fork-${suffix}`;
  return count === 1 ? [base] : Array.from({ length: count }, (_, at) => `${base}-${at + 1}`);
}
