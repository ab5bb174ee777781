import { getContainer, secondsInLine } from '../../api/containers.ts';
import { ApiError } from '../../api/errors.ts';
import { locked } from '../../session/session.ts';
import type { Probe } from '../../terminal/connection-types.ts';

const PROBES: Readonly<Record<number, Probe>> = {
  401: 'unauthorized',
  404: 'deleted',
  403: 'refused',
  423: 'refused',
};
const DOWN = new Set(['stopped', 'failed']);

/** Why a terminal of this container is refused, as far as the container tells. */
export async function probe(id: string): Promise<Probe> {
  let wasLocked = false;
  const stop = locked.subscribe((isLocked) => {
    wasLocked ||= isLocked;
  });
  try {
    const answer = await ask(id);
    return wasLocked && answer === 'ok' ? 'unlocked' : answer;
  } finally {
    stop();
  }
}

/** Whether others are opened first: browsers do not show the answer to a refused upgrade, but that to a plain request. */
async function line(id: string): Promise<Probe> {
  const seconds = await secondsInLine(id);
  return seconds === null ? 'ok' : { busyForMs: seconds * 1000 };
}

async function ask(id: string): Promise<Probe> {
  try {
    return DOWN.has((await getContainer(id)).status) ? 'stopped' : await line(id);
  } catch (failure) {
    return failure instanceof ApiError ? (PROBES[failure.status] ?? 'unreachable') : 'unreachable';
  }
}
