/** The database's clock: its last answer, advanced by the monotonic clock. */
export type DatabaseClock = {
  nowMs(): number;
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
