/** The years 1 to 9999, in seconds since 1970, which dates in answers can express. */
const RANGE = { first: -62_135_596_800, last: 253_402_300_799 } as const;

/** A time from the container's `stat`, in seconds since 1970. A container can set any number. */
export const fileTime = (seconds: number): Date =>
  new Date(Math.min(Math.max(seconds, RANGE.first), RANGE.last) * 1000);
