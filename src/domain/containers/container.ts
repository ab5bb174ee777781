import type { FieldFaults } from '../field-faults.ts';
import type { AgentFacts } from './agents/agent.ts';
import type { Quota } from './disk-quota.ts';
import type { Labels } from './lifetime/labels.ts';
import type { Lifetime } from './lifetime/lifetime.ts';
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
  /** Why it is in that state, in plain words; null when there is nothing to say. */
  readonly stateReason: string | null;
  /** Counts the engine containers made for this row, so their names never collide. */
  readonly generation: number;
  /** null until the engine has made one. */
  readonly runtimeId: string | null;
  readonly node: string;
  /** The volume's engine name, derived from the id so that a rename keeps the data. */
  readonly volume: string;
  readonly diskQuota: Quota;
  /** The volume's use at the last measurement; null before the first. */
  readonly diskUsedMb: number | null;
  /** The use outside the volume at the last measurement; null before the first. */
  readonly layerUsedMb: number | null;
  /** The limit outside the volume, by the owner's present tier. */
  readonly layerAllowedMb: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly startedAt: Date | null;
  readonly deletedAt: Date | null;
  /** The installation of the role's tools. */
  readonly roleSetup: RoleSetup;
  readonly labels: Labels;
  readonly lifetime: Lifetime;
  /** Present for an agent, whose image, limits and volume mean nothing. */
  readonly agent?: AgentFacts;
};

/** The state of a row's container in the engine. */
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
 * The state that the row should have, given the engine's; null when it already has it. A paused container does not run:
 * a start resumes it.
 */
export function syncedState(container: Container, observation: Observation): ContainerState | null {
  if (container.state === 'deleted') return null;
  const state = observation.kind === 'running' ? 'running' : 'stopped';
  if (container.state === 'failed' && state === 'stopped') return null;
  return container.state === state ? null : state;
}

export const volumeName = (dbId: string): string => `ws-${dbId}`;

/** An engine container without a row is stopped at once, and removed after this time unless claimed. */
export const QUARANTINE_MINUTES = 60;

export type OrphanDecision = 'keep' | 'remove' | 'quarantine';

/** What identifies an engine container of ours. */
export type Made = { readonly runtimeId: string; readonly generation: number };

/** Whether it was made after all that the database knows of its row: then an older database was restored. */
const isLater = ({ generation }: Pick<Made, 'generation'>, row: Pick<Container, 'generation'>): boolean =>
  generation > row.generation;

/**
 * The engine container that takes the place of one that is gone: the last one of those made after what a restored
 * database knows.
 */
export const laterOf = <T extends Pick<Made, 'generation'>>(
  row: Pick<Container, 'generation'>,
  ofRow: readonly T[],
): T | null =>
  ofRow.filter((one) => isLater(one, row)).toSorted((a, b) => b.generation - a.generation)[0] ?? null;

/**
 * What to do with an engine container of ours, given its row. A deleted row's container is removed, unless it is a later
 * one, as of a container that was restored after the backup. One that its row does not point at may still be claimed, for
 * example by a restored database. During an operation nothing is decided.
 */
export function decideOrphan(
  { runtimeId, generation }: Made,
  row: Pick<Container, 'state' | 'runtimeId' | 'generation'> | null,
  busy: boolean,
  seenAt: Date | null,
  now: Date,
): OrphanDecision {
  if (busy || (row !== null && row.state !== 'deleted' && row.runtimeId === runtimeId)) return 'keep';
  if (row !== null && row.state === 'deleted' && !isLater({ generation }, row)) return 'remove';
  const over = seenAt !== null && now.getTime() - seenAt.getTime() >= QUARANTINE_MINUTES * 60_000;
  return over ? 'remove' : 'quarantine';
}
