/** The years 1 to 9999, in seconds since 1970: what dates in answers can say. */
const RANGE = { first: -62_135_596_800, last: 253_402_300_799 } as const;

/** The time that a container's `stat` gave, in seconds since 1970. A container can put any number there. */
export const fileTime = (seconds: number): Date =>
  new Date(Math.min(Math.max(seconds, RANGE.first), RANGE.last) * 1000);
