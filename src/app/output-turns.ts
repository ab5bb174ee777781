/** Between two reads of a flooding terminal: others get their turn, and what comes meanwhile is read at once. */
const SHORTEST_REST_MS = 1;
const LONGEST_REST_MS = 100;
/** A timer that comes so late says that this process waits for a processor, or is busy itself. */
const LATE_MS = 5;
const LONGER = 1.4;
const SHORTER = 0.98;

export type OutputTurns = {
  /** Calls `then` when a terminal may be read again that has had its turn; `isMore`: its output waits already. */
  rest(isMore: boolean, then: () => void): void;
};

/**
 * Shares the processors between terminals that flood and those somebody types at. One flood alone is read as fast as it
 * comes. Several rest the longer the later this process gets its own turns, until about one turn in twenty is late: that
 * tells of everything that happens on the machine, whoever causes it.
 */
export function outputTurns(monotonicMs: () => number): OutputTurns {
  let restMs = SHORTEST_REST_MS;
  let resting = 0;

  const learn = (lateMs: number): void => {
    const next = restMs * (lateMs > LATE_MS ? LONGER : SHORTER);
    restMs = Math.min(LONGEST_REST_MS, Math.max(SHORTEST_REST_MS, next));
  };

  return {
    rest(isMore, then) {
      const isAlone = resting === 0;
      const ms = isAlone ? SHORTEST_REST_MS : restMs;
      const askedMs = monotonicMs();
      const wake = (): void => {
        resting -= 1;
        learn(monotonicMs() - askedMs - ms);
        then();
      };
      resting += 1;
      if (isAlone && isMore) setImmediate(wake);
      else setTimeout(wake, ms);
    },
  };
}
