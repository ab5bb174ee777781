import type { Container, ContainerState } from '../../domain/containers/container.ts';
import type { ContainerRef } from '../../domain/containers/container-ref.ts';
import type { Quota } from '../../domain/containers/disk-quota.ts';
import type { Resources } from '../../domain/containers/resources.ts';

export type NewContainer = Pick<
  Container,
  | 'dbId'
  | 'ownerId'
  | 'name'
  | 'imageKey'
  | 'image'
  | 'shell'
  | 'role'
  | 'resources'
  | 'env'
  | 'node'
  | 'volume'
>;

/** A change of state with what goes along with it. */
export type StateChange = {
  readonly state: ContainerState;
  readonly reason?: string | null;
  readonly runtimeId?: string;
  readonly node?: string;
  readonly generation?: number;
  readonly name?: string;
  readonly resources?: Resources;
  /** Sets started_at to now. */
  readonly started?: boolean;
};

export type DiskFindings = {
  readonly quota?: Quota;
  readonly usedMb?: number | null;
  readonly layerUsedMb?: number;
};

/** The owner's live containers have different names. */
export class NameTaken extends Error {
  override name = 'NameTaken';
}

/** Reads by a user carry the owner in the query: a foreign row is as absent as an unknown one. */
export interface ContainerRepository {
  /** Throws `NameTaken` when the owner has a live container of that name. */
  insert(container: NewContainer): Promise<void>;
  nameInUse(ownerId: string, name: string): Promise<boolean>;
  findOwned(ref: ContainerRef, ownerId: string): Promise<Container | null>;
  /** Newest first, without deleted ones. */
  listOwned(ownerId: string): Promise<readonly Container[]>;
  /** Those that were deleted and can be restored still: newest deletion first. */
  listDeleted(ownerId: string): Promise<readonly Container[]>;
  countLive(ownerId: string): Promise<number>;
  /** Deleted ones that ran once and whose volume is not removed yet. */
  countKept(ownerId: string): Promise<number>;
  /** Moves it only if it is in one of `from`; answers the row as it is then, or null. Throws `NameTaken`. */
  changeState(dbId: string, from: readonly ContainerState[], change: StateChange): Promise<Container | null>;
  /** Sets last_used_at to now. */
  touch(dbId: string): Promise<void>;
  /** What has been found out about its volume and its layer; what is absent stays. */
  recordDisk(dbId: string, disk: DiskFindings): Promise<void>;
  /** Running ones whose volume nobody has claimed to look at for so long; they count as looked at now. */
  claimDiskMeasure(seconds: number): Promise<readonly Container[]>;
  /** By id alone, deleted ones too: for work that was allowed when it was asked for. */
  findAny(dbId: string): Promise<Container | null>;
  /** One that is deleted, not purged, and whose volume is not being removed: nor is it until the transaction ends. */
  findDeleted(dbId: string, ownerId: string): Promise<Container | null>;
  /** When an unaccounted engine container was first seen: now, if never before. Forgets those not named. */
  rememberOrphans(runtimeIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** Every live row of every owner, for the reconciler only. */
  listAllLive(): Promise<readonly Container[]>;
}
