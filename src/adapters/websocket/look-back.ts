import { setTimeout as delay } from 'node:timers/promises';
import type { LookedBack, TerminalStream } from '../../app/terminal-stream.ts';
import type { OutputPump } from './pump.ts';

/** Between two looks into the container, whose engine others need as well; sooner than anybody notices. */
const LOOK_REST_MS = 200;

type LookBack = { look(): Promise<void>; stop(): void };

/** Looks which program is on the screen, one look at a time, and tells it at its place in the output. */
export function lookBack(
  stream: Pick<TerminalStream, 'lookBack'>,
  pump: Pick<OutputPump, 'after'>,
  tell: (program: LookedBack['program']) => void,
): LookBack {
  let looking = false;
  let restUntilMs = 0;
  let stopped = false;
  return {
    async look() {
      // One answer is soon there, and tells all that a second would.
      if (looking) return;
      looking = true;
      const restMs = restUntilMs - performance.now();
      if (restMs > 0) await delay(restMs);
      if (stopped) return;
      const { program, offset } = await stream.lookBack();
      restUntilMs = performance.now() + LOOK_REST_MS;
      // Before what it speaks of, it would be taken for the end of that.
      pump.after(offset, () => {
        looking = false;
        if (!stopped) tell(program);
      });
    },
    stop() {
      stopped = true;
    },
  };
}
