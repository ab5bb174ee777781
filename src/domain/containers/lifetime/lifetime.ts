import type { FieldFaults } from '../../field-faults.ts';

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

/** What a tier allows its users' containers, from each start; 0 for no limit. */
export type LifetimeLimits = { readonly maxTtlSeconds: number; readonly maxIdleSeconds: number };

export const NO_LIFETIME_LIMITS: LifetimeLimits = { maxTtlSeconds: 0, maxIdleSeconds: 0 };

export const NO_LIFETIME: Lifetime = {
  isEphemeral: false,
  endsAt: null,
  idleSeconds: null,
  onIdle: 'stop',
  keptUntil: null,
  activeAt: null,
};

/** Whether the request leaves the lifetime as it is. A TTL counts from now, so it always changes the end. */
export const changesNothing = (
  { ttlSeconds, idleSeconds, onIdle, keepSeconds }: LifetimeRequest,
  present: Lifetime,
): boolean =>
  (ttlSeconds === undefined || (ttlSeconds === null && present.endsAt === null)) &&
  (idleSeconds === undefined || idleSeconds === present.idleSeconds) &&
  (onIdle === undefined || onIdle === present.onIdle) &&
  keepSeconds === undefined;

/** Each value outside its range, or that the tier or the container's present lifetime does not allow. */
export function lifetimeFaults(
  request: LifetimeRequest,
  present: Lifetime,
  limits: LifetimeLimits,
): FieldFaults {
  const ranges = [
    ['ttlSeconds', TTL_SECONDS, limits.maxTtlSeconds],
    ['idleSeconds', IDLE_SECONDS, limits.maxIdleSeconds],
    ['keepSeconds', TTL_SECONDS, limits.maxTtlSeconds],
  ] as const;
  const faults: Record<string, string> = {};
  for (const [key, { min, max }, limit] of ranges) {
    const value = request[key];
    const most = limit === 0 ? max : Math.min(max, limit);
    if (value === undefined || (value === null && limit === 0)) continue;
    if (value === null || !Number.isInteger(value) || value < min || value > most)
      faults[key] = `must be a whole number from ${min} to ${most}${limit === 0 ? '' : ' in your tier'}`;
  }
  const idleSeconds = request.idleSeconds === undefined ? present.idleSeconds : request.idleSeconds;
  const ends = request.ttlSeconds === undefined ? present.endsAt : request.ttlSeconds;
  if (!present.isEphemeral) return faults;
  if (request.onIdle === 'stop') faults['onIdle'] = 'must be delete for an ephemeral container';
  if (idleSeconds === null && ends === null)
    faults['idleSeconds'] = 'or ttl_seconds must be set for an ephemeral container';
  return faults;
}

/**
 * Each end of a request, made `now`, that is later than the tier allows a container that started at `startedAt`. An end
 * where there was none is never too late: the container started before its tier had a limit.
 */
export function endFaults(
  { ttlSeconds, keepSeconds }: LifetimeRequest,
  { endsAt }: Lifetime,
  { maxTtlSeconds }: LifetimeLimits,
  { startedAt, now }: { readonly startedAt: Date; readonly now: Date },
): FieldFaults {
  if (maxTtlSeconds === 0) return {};
  const last = startedAt.getTime() + maxTtlSeconds * 1_000;
  const isTooLate = (seconds: number | null | undefined): boolean =>
    typeof seconds === 'number' && now.getTime() + seconds * 1_000 > last;
  const fault = `must end by ${new Date(last).toISOString()}: your tier allows ${maxTtlSeconds} seconds from a start`;
  return {
    ...(endsAt !== null && isTooLate(ttlSeconds) ? { ttlSeconds: fault } : {}),
    ...(isTooLate(keepSeconds) ? { keepSeconds: fault } : {}),
  };
}

/** The lifetime to create a container with; an ephemeral one always has an end. */
export function firstLifetime(
  request: LifetimeRequest,
  isEphemeral: boolean,
  { maxIdleSeconds }: LifetimeLimits,
): LifetimeRequest {
  const most = maxIdleSeconds === 0 ? EPHEMERAL_IDLE_SECONDS : maxIdleSeconds;
  const hasEnd = (request.ttlSeconds ?? request.idleSeconds ?? null) !== null;
  if (!isEphemeral) return request;
  return hasEnd
    ? { onIdle: 'delete', ...request }
    : { onIdle: 'delete', ...request, idleSeconds: Math.min(EPHEMERAL_IDLE_SECONDS, most) };
}
