import type { Container, ContainerState } from '../../domain/containers/container.ts';
import type { ContainerRef } from '../../domain/containers/container-ref.ts';
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
> &
  Partial<Pick<Container, 'diskQuota'>>;

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

/** The owner has a live container of that name. */
export class NameTaken extends Error {
  override name = 'NameTaken';
}

/** Reads for a user have the owner in the query, so a foreign row looks unknown. */
export interface ContainerRepository {
  /** Returns the new row. Throws `NameTaken`. */
  insert(container: NewContainer): Promise<Container>;
  nameInUse(ownerId: string, name: string): Promise<boolean>;
  findOwned(ref: ContainerRef, ownerId: string): Promise<Container | null>;
  /** With those that are being transferred to the owner. */
  countLive(ownerId: string): Promise<number>;
  /** Changes the row only in one of the states `from`; returns the new row, or null. Throws `NameTaken`. */
  changeState(dbId: string, from: readonly ContainerState[], change: StateChange): Promise<Container | null>;
  /**
   * Transfers a live one to another owner, under that name, with its processes and their output. null when it is not `fromUserId`'s, or a change is in
   * progress. Throws `NameTaken`.
   */
  transfer(dbId: string, fromUserId: string, toUserId: string, name: string): Promise<Container | null>;
  touch(dbId: string): Promise<void>;
  /** By id alone, deleted ones included: for work that was authorized before. */
  findAny(dbId: string): Promise<Container | null>;
  /**
   * All live rows, for work on all of them alone. In an installation with many they are of several moments: each that
   * was live all the time is there once.
   */
  listAllLive(): Promise<readonly Container[]>;
}
