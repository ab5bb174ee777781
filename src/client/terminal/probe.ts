import { BerthError } from '../request/errors.ts';
import type { Probe, Waiting } from './connection-types.ts';
import type { EndReason } from './terminal-protocol.ts';

const PROBES: Readonly<Record<number, Probe>> = {
  401: 'unauthorized',
  404: 'deleted',
  403: 'refused',
  423: 'refused',
};
const DOWN = new Set(['stopped', 'failed']);

/** Refusals worth another try. */
const WAITS: Readonly<Record<string, Waiting['trouble']>> = {
  busy_opening_terminals: 'busy',
  too_many_at_once: 'too_many',
  address_full: 'address',
  rate_limited: 'rate',
  sharing_needs_tmux: 'no_tmux',
};

export type Question = {
  readonly container: () => Promise<{ readonly status: string }>;
  /** The answer to a plain request of the terminal; null when it could be opened. */
  readonly refusal: () => Promise<BerthError | null>;
};

/** Why a terminal is refused, as far as the service shows. */
export async function probeOf({ container, refusal }: Question): Promise<Probe> {
  try {
    if (DOWN.has((await container()).status)) return 'stopped';
    // why: browsers do not show the answer to a refused upgrade, but that to a plain request
    return waiting(await refusal()) ?? 'ok';
  } catch (failure) {
    const known = failure instanceof BerthError ? PROBES[failure.status] : undefined;
    return waiting(failure) ?? known ?? 'unreachable';
  }
}

function waiting(failure: unknown): Waiting | null {
  if (!(failure instanceof BerthError)) return null;
  const { code, retryAfterSeconds } = failure;
  const trouble = WAITS[code];
  if (trouble === undefined) return null;
  return { trouble, forMs: retryAfterSeconds === null ? null : retryAfterSeconds * 1000 };
}

export type AfterProbe =
  | { readonly end: EndReason }
  | Waiting
  | { readonly trouble: 'line'; readonly forMs: null };

const TRY_AGAIN = { trouble: 'line', forMs: null } as const;

/** What follows the answer. A terminal closed on purpose while open stays closed, even when a new one would open. */
export function afterProbe(answer: Probe, wasOpen: boolean): AfterProbe {
  if (wasOpen && typeof answer === 'object' && answer.trouble === 'no_tmux') return { end: 'closed' };
  if (typeof answer === 'object') return answer;
  if (answer === 'unlocked') return TRY_AGAIN;
  if (answer !== 'ok' && answer !== 'unreachable') return { end: answer };
  return wasOpen ? { end: 'closed' } : TRY_AGAIN;
}
