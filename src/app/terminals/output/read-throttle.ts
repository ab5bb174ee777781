import type { Readable } from 'node:stream';
import type { ReadScheduler } from './read-scheduler.ts';

/**
 * After so much output a terminal is left alone for a moment: others get their turn, and what comes meanwhile is read at
 * once, which costs much less than each few KiB by themselves. So much in `TURN_MS` is no flood: what somebody types or pages
 * through never gets there.
 */
const TURN_BYTES = 16_384;
const TURN_MS = 100;
/** As much as is read at once: there is more, and only others' turn is waited for. */
const FULL_READ_BYTES = 65_536;

export type ReadPace = ReturnType<typeof readThrottle>;

/** When a program's output is read: not while it is paused, and not all the time. */
export function readThrottle(
  stream: Pick<Readable, 'pause' | 'resume' | 'destroyed'>,
  scheduler: ReadScheduler,
  nowMs = (): number => performance.now(),
) {
  let thisTurn = 0;
  let tookMs = nowMs();
  let isResting = false;
  let isPaused = false;

  const goOn = (): void => {
    if (!isPaused && !isResting) stream.resume();
  };
  const awake = (): boolean => {
    isResting = false;
    goOn();
    return !isPaused && !stream.destroyed;
  };
  const yieldTurn = (hasBacklog: boolean): void => {
    thisTurn = 0;
    if (isResting) return;
    isResting = true;
    stream.pause();
    scheduler.scheduleRead(hasBacklog, awake);
  };
  return {
    isPaused: (): boolean => isPaused,
    /** So much was read at once. */
    took(bytes: number): void {
      const now = nowMs();
      thisTurn = Math.max(0, thisTurn - ((now - tookMs) / TURN_MS) * TURN_BYTES) + bytes;
      tookMs = now;
      if (thisTurn >= TURN_BYTES) yieldTurn(bytes >= FULL_READ_BYTES);
    },
    pause(): void {
      isPaused = true;
      stream.pause();
    },
    resume(): void {
      isPaused = false;
      goOn();
    },
  };
}
