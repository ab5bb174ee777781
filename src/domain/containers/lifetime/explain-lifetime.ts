import { type Activity, lastWords, presentWords } from './activity.ts';
import { endOf, type LifetimeEnd, type Living } from './lifetime-end.ts';

const ACTS = { stop: 'stopped', delete: 'deleted' } as const;

/** Why a container ends by itself, and when, in words: `in 240 s: nothing has used it since …`. */
export function explainLifetime(container: Living, activity: readonly Activity[], now: Date): string {
  const end = endOf(container);
  if (end === null) return whyNever(container);
  const leftSeconds = Math.max(0, Math.ceil((end.at.getTime() - now.getTime()) / 1_000));
  return `in ${leftSeconds} s: ${reasonNow(container, end, activity, now)}`;
}

function whyNever({ state, lifetime, roleSetup }: Living): string {
  if (lifetime.endsAt === null && lifetime.idleSeconds === null)
    return 'never: it has no end and no idle time';
  if (state !== 'running') return `not now: it is ${state}`;
  if (roleSetup.status === 'installing') return 'not while its tools are being installed';
  return 'never: its end was before its last start';
}

function reasonNow(
  { lifetime: { keptUntil, idleSeconds }, startedAt }: Living,
  end: LifetimeEnd,
  activity: readonly Activity[],
  now: Date,
): string {
  if (keptUntil !== null && keptUntil.getTime() === end.at.getTime()) return 'it was kept until then';
  if (end.because === 'time') return 'its time ends then, whatever it does';
  const present = presentWords(activity, now);
  if (present !== null) return `${present}, and it may be idle for ${idleSeconds} s after that`;
  const last = lastWords(activity);
  if (last === null)
    return `nothing has used it since its start${startedAt ? ` at ${startedAt.toISOString()}` : ''}`;
  return `nothing has used it since ${last}`;
}

/** The reason that the container's owner reads after its end. */
export const endReason = (
  { lifetime: { idleSeconds } }: Living,
  { because, action, at }: LifetimeEnd,
): string =>
  because === 'time'
    ? `${ACTS[action]} at the end of its time, ${at.toISOString()}`
    : `${ACTS[action]} because nothing used it for ${idleSeconds} s`;

/** The warning for open terminals. */
export function warningWords({ because, action }: LifetimeEnd, leadSeconds: number, name: string): string {
  const time = leadSeconds >= 60 ? `${Math.round(leadSeconds / 60)} min` : `${Math.round(leadSeconds)} s`;
  const why = because === 'time' ? 'its time ends' : 'nothing uses it';
  return `This container will be ${ACTS[action]} in ${time}, because ${why}. Keep it: berth keep ${name}, or in the list of containers.`;
}
