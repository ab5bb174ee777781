/** The clock of the database, by its last answer; between two answers it advances with the monotonic clock. */
export type DatabaseClock = {
  nowMs(): number;
  /** The database has just said that it is `now`. */
  adjust(now: Date): void;
};

export function databaseClock(monotonicMs: () => number): DatabaseClock {
  let aheadMs = 0;
  return {
    nowMs: () => monotonicMs() + aheadMs,
    adjust: (now) => {
      aheadMs = now.getTime() - monotonicMs();
    },
  };
}
