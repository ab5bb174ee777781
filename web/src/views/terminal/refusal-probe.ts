import { getContainer, terminalRefusal } from '../../api/containers.ts';
import { ApiError } from '../../api/errors.ts';
import { locked } from '../../session/session.ts';
import type { Probe, Waiting } from '../../terminal/connection/connection-types.ts';

const PROBES: Readonly<Record<number, Probe>> = {
  401: 'unauthorized',
  404: 'deleted',
  403: 'refused',
  423: 'refused',
};
const DOWN = new Set(['stopped', 'failed']);

/** Why a terminal of this container is refused, as far as the container shows. */
export async function probe(id: string): Promise<Probe> {
  let wasLocked = false;
  const stop = locked.subscribe((isLocked) => {
    wasLocked ||= isLocked;
  });
  try {
    const answer = await refusalOf(id);
    return wasLocked && answer === 'ok' ? 'unlocked' : answer;
  } finally {
    stop();
  }
}

/** Refusals that pass by themselves, as the trouble that the page shows. */
const WAITS: Readonly<Record<string, Waiting['trouble']>> = {
  busy_opening_terminals: 'busy',
  too_many_at_once: 'too_many',
  rate_limited: 'rate',
};

function waiting(failure: unknown): Waiting | null {
  if (!(failure instanceof ApiError)) return null;
  const { code, retryAfterSeconds } = failure;
  const trouble = WAITS[code];
  return trouble === undefined || retryAfterSeconds === null
    ? null
    : { trouble, forMs: retryAfterSeconds * 1000 };
}

async function refusalOf(id: string): Promise<Probe> {
  try {
    if (DOWN.has((await getContainer(id)).status)) return 'stopped';
    // why: browsers do not show the answer to a refused upgrade, but that to a plain request
    return waiting(await terminalRefusal(id)) ?? 'ok';
  } catch (failure) {
    const known = failure instanceof ApiError ? PROBES[failure.status] : undefined;
    return waiting(failure) ?? known ?? 'unreachable';
  }
}
