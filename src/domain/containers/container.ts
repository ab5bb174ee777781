import type { FieldFaults } from '../field-faults.ts';
import type { Quota } from './disk-quota.ts';
import type { Resources } from './resources.ts';
import type { RoleSetup } from './role-setup.ts';

/**
 *   creating --> running <--> stopped        each change passes through starting, stopping or updating
 *       |           |            |
 *       v           v            v
 *     failed     deleted <-------+           deleted is soft: the volume stays until the retention is over
 */
export const CONTAINER_STATES = [
  'creating',
  'starting',
  'running',
  'stopping',
  'stopped',
  'updating',
  'failed',
  'deleted',
] as const;

export type ContainerState = (typeof CONTAINER_STATES)[number];

export type Container = {
  readonly dbId: string;
  readonly ownerId: string;
  readonly ownerUsername: string;
  readonly name: string;
  readonly imageKey: string;
  readonly image: string;
  readonly shell: string;
  readonly role: string;
  readonly resources: Resources;
  readonly env: Readonly<Record<string, string>>;
  readonly state: ContainerState;
  /** Why it is in that state, in words for people; null when nothing needs saying. */
  readonly stateReason: string | null;
  /** Counts the engine containers made for this row, so that their names never collide. */
  readonly generation: number;
  /** null until the engine has made one. */
  readonly runtimeId: string | null;
  readonly node: string;
  /** Engine name of the volume: derived from the id, so that a rename keeps the data. */
  readonly volume: string;
  /** How the volume keeps its size. */
  readonly diskQuota: Quota;
  /** What the volume held when it was last looked at; null when it never was. */
  readonly diskUsedMb: number | null;
  /** What it has outside its volume, when that was last looked at; null when it never was. */
  readonly layerUsedMb: number | null;
  /** What it may have there: by the tier that its owner has now. */
  readonly layerAllowedMb: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly startedAt: Date | null;
  readonly deletedAt: Date | null;
  /** The tools of `role`, as far as they are installed. */
  readonly roleSetup: RoleSetup;
};

/** What the engine says of a row's container now. */
export type Observation =
  | { readonly kind: 'running' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'gone'; readonly volumeExists: boolean };

const NAME = /^[a-zA-Z0-9-]{1,64}$/;

/** 1-64 characters, alphanumeric and hyphens. */
export const nameFaults = (name: string): FieldFaults =>
  NAME.test(name) ? {} : { name: 'must be 1 to 64 letters, digits or hyphens' };

/**
 * The state that a row should show once what its engine says is known; null when it already does. What is paused does
 * not run: a start makes it go on.
 */
export function syncedState(container: Container, observation: Observation): ContainerState | null {
  if (container.state === 'deleted') return null;
  const state = observation.kind === 'running' ? 'running' : 'stopped';
  if (container.state === 'failed' && state === 'stopped') return null;
  return container.state === state ? null : state;
}

/** Engine name of the volume of a row. */
export const volumeName = (dbId: string): string => `ws-${dbId}`;

/** An engine container that no row accounts for is stopped at once and removed after an hour, unless claimed. */
export const QUARANTINE_MINUTES = 60;

export type OrphanDecision = 'keep' | 'remove' | 'quarantine';

/**
 * What to do with an engine container of ours, given its row. One of a deleted row goes; one that its row does not
 * point at may still be claimed, say by a database that is restored; nothing is decided while an operation is at work.
 */
export function decideOrphan(
  runtimeId: string,
  row: Pick<Container, 'state' | 'runtimeId'> | null,
  busy: boolean,
  seenAt: Date | null,
  now: Date,
): OrphanDecision {
  if (busy || (row !== null && row.state !== 'deleted' && row.runtimeId === runtimeId)) return 'keep';
  if (row !== null && row.state === 'deleted') return 'remove';
  const over = seenAt !== null && now.getTime() - seenAt.getTime() >= QUARANTINE_MINUTES * 60_000;
  return over ? 'remove' : 'quarantine';
}
