import type { Readable } from 'node:stream';
import type { OutputTurns } from './output-turns.ts';

/**
 * After so much output a terminal is left alone for a moment: others get their turn, and what comes meanwhile is read at
 * once, which costs much less than each few KiB by themselves. What somebody types never gets there.
 */
const TURN_BYTES = 16_384;
/** As much as is read at once: there is more, and only others' turn is waited for. */
const FULL_READ_BYTES = 65_536;

/** When a program's output is read: not while it is held, and not all the time. */
export function readPace(stream: Pick<Readable, 'pause' | 'resume'>, turns: OutputTurns) {
  let thisTurn = 0;
  let isResting = false;
  let isHeld = false;

  const goOn = (): void => {
    if (!isHeld && !isResting) stream.resume();
  };
  const awake = (): void => {
    isResting = false;
    goOn();
  };
  const rest = (isMore: boolean): void => {
    thisTurn = 0;
    if (isResting) return;
    isResting = true;
    stream.pause();
    turns.rest(isMore, awake);
  };
  return {
    isHeld: (): boolean => isHeld,
    /** So much was read at once. */
    took(bytes: number): void {
      thisTurn += bytes;
      if (thisTurn >= TURN_BYTES) rest(bytes >= FULL_READ_BYTES);
    },
    hold(): void {
      isHeld = true;
      stream.pause();
    },
    letGo(): void {
      isHeld = false;
      goOn();
    },
  };
}
