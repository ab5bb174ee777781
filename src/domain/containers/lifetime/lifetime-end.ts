import type { Container } from '../container.ts';
import type { EndAction } from './lifetime.ts';

const FIRST_WARNING_SECONDS = 300;
const LAST_WARNING_SECONDS = 60;

export type LifetimeEnd = {
  readonly at: Date;
  readonly action: EndAction;
  readonly because: 'time' | 'idle';
  /** How long before the end the two warnings are given, the last one second. Whole numbers. */
  readonly warnSeconds: readonly [first: number, last: number];
};

/** The warnings given so far, about one end. */
export type Warned = { readonly end: Date; readonly leadSeconds: number; readonly at: Date };

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

/** Earlier than half of the time, a warning would say nothing. Whole seconds, as they are stored. */
function warnings(spanSeconds: number): readonly [number, number] {
  const most = Math.max(1, Math.floor(spanSeconds / 2));
  return [Math.min(FIRST_WARNING_SECONDS, most), Math.min(LAST_WARNING_SECONDS, most)];
}

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
