import type { Probe } from '../../../../../src/client/terminal/connection-types.ts';
import { probeOf } from '../../../../../src/client/terminal/probe.ts';
import { getContainer, terminalRefusal } from '../../../api/containers/containers.ts';
import { locked } from '../../../session/session.ts';

/** Why a terminal of this container is refused, as far as the container shows. */
export async function probe(id: string): Promise<Probe> {
  let wasLocked = false;
  const stop = locked.subscribe((isLocked) => {
    wasLocked ||= isLocked;
  });
  try {
    const container = () => getContainer(id);
    const answer = await probeOf({ container, refusal: () => terminalRefusal(id) });
    return wasLocked && answer === 'ok' ? 'unlocked' : answer;
  } finally {
    stop();
  }
}
