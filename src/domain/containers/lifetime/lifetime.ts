import type { FieldFaults } from '../../field-faults.ts';
import type { Container } from '../container.ts';

/**
 * When a container ends by itself, as its owner asked:
 *
 *   running --5 min before: warning--> running --1 min before: warning--> stopped, or deleted
 *      ^                                   |
 *      +------- used, or kept longer ------+
 *
 * An ephemeral container is deleted at its end, also when it was stopped before.
 */
export type Lifetime = {
  readonly isEphemeral: boolean;
  /** The hard end; null for none. One before the last start is spent. */
  readonly endsAt: Date | null;
  /** The end after so long without use; null for none. */
  readonly idleSeconds: number | null;
  readonly onIdle: EndAction;
  /** Nothing ends it before. */
  readonly keptUntil: Date | null;
  /** The last use on record. */
  readonly activeAt: Date | null;
};

export const END_ACTIONS = ['stop', 'delete'] as const;
export type EndAction = (typeof END_ACTIONS)[number];

export type LifetimeEnd = {
  readonly at: Date;
  readonly action: EndAction;
  readonly because: 'time' | 'idle';
  /** How long before the end the two warnings are given, the last one second. */
  readonly warnSeconds: readonly [first: number, last: number];
};

/** The warnings given so far, about one end. */
export type Warned = { readonly end: Date; readonly leadSeconds: number; readonly at: Date };

/** Seconds from now. null removes an end; absent ones stay. */
export type LifetimeRequest = {
  readonly ttlSeconds?: number | null;
  readonly idleSeconds?: number | null;
  readonly onIdle?: EndAction;
  readonly keepSeconds?: number;
};

export const TTL_SECONDS = { min: 60, max: 2_592_000 } as const;
export const IDLE_SECONDS = { min: 60, max: 604_800 } as const;
/** An ephemeral container without any end would use its owner's limits for ever. */
export const EPHEMERAL_IDLE_SECONDS = 1_800;

const FIRST_WARNING_SECONDS = 300;
const LAST_WARNING_SECONDS = 60;

export const NO_LIFETIME: Lifetime = {
  isEphemeral: false,
  endsAt: null,
  idleSeconds: null,
  onIdle: 'stop',
  keptUntil: null,
  activeAt: null,
};

/** Each value outside its range, or that the container's present lifetime does not allow. */
export function lifetimeFaults(request: LifetimeRequest, present: Lifetime): FieldFaults {
  const ranges = [
    ['ttlSeconds', TTL_SECONDS],
    ['idleSeconds', IDLE_SECONDS],
    ['keepSeconds', TTL_SECONDS],
  ] as const;
  const faults: Record<string, string> = {};
  for (const [key, { min, max }] of ranges) {
    const value = request[key] ?? null;
    if (value !== null && (!Number.isInteger(value) || value < min || value > max))
      faults[key] = `must be a whole number from ${min} to ${max}`;
  }
  const idleSeconds = request.idleSeconds === undefined ? present.idleSeconds : request.idleSeconds;
  const ends = request.ttlSeconds === undefined ? present.endsAt : request.ttlSeconds;
  if (!present.isEphemeral) return faults;
  if (request.onIdle === 'stop') faults['onIdle'] = 'must be delete for an ephemeral container';
  if (idleSeconds === null && ends === null)
    faults['idleSeconds'] = 'or ttl_seconds must be set for an ephemeral container';
  return faults;
}

/** The lifetime to create a container with; an ephemeral one always has an end. */
export function firstLifetime(request: LifetimeRequest, isEphemeral: boolean): LifetimeRequest {
  const hasEnd = (request.ttlSeconds ?? request.idleSeconds ?? null) !== null;
  if (!isEphemeral) return request;
  return hasEnd
    ? { onIdle: 'delete', ...request }
    : { onIdle: 'delete', ...request, idleSeconds: EPHEMERAL_IDLE_SECONDS };
}

/** The parts of a container that decide its end. */
export type Living = Pick<Container, 'state' | 'startedAt' | 'createdAt' | 'lifetime' | 'roleSetup'>;

/** The next end by itself; null when nothing ends it. */
export function endOf(container: Living): LifetimeEnd | null {
  if (!canEnd(container)) return null;
  const ends = [timeEnd(container), idleEnd(container)].filter((end) => end !== null);
  const [next] = ends.sort((a, b) => a.at.getTime() - b.at.getTime());
  return next ?? null;
}

/** Not during a change. A stopped container ends only by being deleted. */
const canEnd = ({ state, lifetime }: Living): boolean =>
  state === 'running' || (lifetime.isEphemeral && (state === 'stopped' || state === 'failed'));

const runsSince = ({ startedAt, createdAt }: Living): Date => startedAt ?? createdAt;

function timeEnd(container: Living): LifetimeEnd | null {
  const { endsAt, isEphemeral, keptUntil } = container.lifetime;
  const since = runsSince(container);
  if (endsAt === null || (endsAt <= since && !isEphemeral)) return null;
  const at = latest(endsAt, keptUntil);
  const action = isEphemeral ? 'delete' : 'stop';
  return { at, action, because: 'time', warnSeconds: warnings((at.getTime() - since.getTime()) / 1_000) };
}

/** The idle end; it moves with each use. */
export function idleEnd(container: Living): LifetimeEnd | null {
  const { idleSeconds, keptUntil, activeAt, isEphemeral, onIdle } = container.lifetime;
  if (idleSeconds === null || container.roleSetup.status === 'installing') return null;
  const idleSince = latest(runsSince(container), activeAt);
  const at = latest(new Date(idleSince.getTime() + idleSeconds * 1_000), keptUntil);
  const action = isEphemeral ? 'delete' : onIdle;
  return { at, action, because: 'idle', warnSeconds: warnings(idleSeconds) };
}

const latest = (time: Date, other: Date | null): Date => (other !== null && other > time ? other : time);

/** Earlier than half of the time, a warning would say nothing. */
const warnings = (spanSeconds: number): readonly [number, number] => [
  Math.min(FIRST_WARNING_SECONDS, spanSeconds / 2),
  Math.min(LAST_WARNING_SECONDS, spanSeconds / 2),
];

export type LifetimeStep =
  | { readonly do: 'nothing' }
  | { readonly do: 'warn'; readonly end: LifetimeEnd; readonly leadSeconds: number }
  | { readonly do: 'end'; readonly end: LifetimeEnd };

const NOTHING: LifetimeStep = { do: 'nothing' };

/**
 * What is due now, by the database's clock. No container ends without its last warning some time before: after an
 * outage of the database, the processes first record what goes on.
 */
export function nextLifetimeStep(container: Living, warned: Warned | null, now: Date): LifetimeStep {
  const end = endOf(container);
  if (end === null) return NOTHING;
  const leftSeconds = (end.at.getTime() - now.getTime()) / 1_000;
  const [first, last] = end.warnSeconds;
  const given = warned !== null && isSame(warned.end, end.at) ? warned : null;
  if (leftSeconds <= last) {
    if (given === null || given.leadSeconds > last) return { do: 'warn', end, leadSeconds: last };
    return leftSeconds <= 0 && hasHadNotice(given, last, now) ? { do: 'end', end } : NOTHING;
  }
  return leftSeconds <= first && given === null ? { do: 'warn', end, leadSeconds: first } : NOTHING;
}

const isSame = (a: Date, b: Date): boolean => Math.abs(a.getTime() - b.getTime()) < 1_000;

/** A pass may be some seconds late. */
const NOTICE_SLACK_SECONDS = 15;

const hasHadNotice = ({ at }: Warned, lastSeconds: number, now: Date): boolean =>
  now.getTime() - at.getTime() >= Math.max(NOTICE_SLACK_SECONDS, lastSeconds - NOTICE_SLACK_SECONDS) * 1_000;
