export type Pace = {
  /** How many times as fast as recorded. */
  readonly speed: number;
  /** The longest pause, as recorded. */
  readonly idleLimitSeconds: number;
};

/** A longer timer would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The pause between two events of a recording, in milliseconds. */
export const pauseMs = (fromSeconds: number, toSeconds: number, { speed, idleLimitSeconds }: Pace): number =>
  Math.min(LONGEST_MS, (Math.min(Math.max(0, toSeconds - fromSeconds), idleLimitSeconds) / speed) * 1000);
