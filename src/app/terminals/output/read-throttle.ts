import type { Readable } from 'node:stream';
import type { ReadScheduler } from './read-scheduler.ts';

/**
 * After this much output in `TURN_MS` a terminal is not read for a moment, so that others get their turn; reading the
 * accumulated output at once costs much less than every few KiB. Typing and paging stay below it.
 */
const TURN_BYTES = 16_384;
const TURN_MS = 100;
/** A read of the maximum size: more output is waiting, and only the next turn is needed. */
const FULL_READ_BYTES = 65_536;

export type ReadPace = ReturnType<typeof readThrottle>;

/** Decides when a program's output is read: not while it is paused, and not continuously. */
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
