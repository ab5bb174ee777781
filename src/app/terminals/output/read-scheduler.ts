/** Between two reads of the only terminal that floods: what comes meanwhile is read at once. */
const ALONE_MS = 1;
/** Between the turns of two terminals that flood, of which each is one read of at most 64 KiB. */
const SHORTEST_GAP_MS = 0.25;
const LONGEST_GAP_MS = 25;
const FIRST_GAP_MS = 8;
const SHORTEST_TIMER_MS = 1;
/** A timer that comes so late says that this process waits for a processor, or is busy itself. */
const LATE_MS = 2;
const LONGER = 1.5;
const SHORTER = 0.99;

export type ReadScheduler = {
  /**
   * Calls `then` when a terminal may be read again that has had its turn; `isMore`: its output waits already. It answers
   * whether it reads: where it does not, the turn is another's.
   */
  scheduleRead(hasBacklog: boolean, read: () => boolean): void;
};

/**
 * Shares the processors between terminals that flood and those somebody types at. One flood alone is read as fast as it
 * comes. Several take turns, one after the other, as each read sets off what fills its pipe again. The later this process gets
 * its own turns the longer is the time between theirs, until about one in forty is late: that tells of everything that
 * happens on the machine, whoever causes it.
 */
export function readScheduler(monotonicMs: () => number): ReadScheduler {
  const waiting: (() => boolean)[] = [];
  let isAnyAlone = false;
  let isTimed = false;
  let gapMs = FIRST_GAP_MS;

  const learn = (lateMs: number): void => {
    const next = gapMs * (lateMs > LATE_MS ? LONGER : SHORTER);
    gapMs = Math.min(LONGEST_GAP_MS, Math.max(SHORTEST_GAP_MS, next));
  };
  const wait = (): void => {
    if (isTimed || waiting.length === 0) return;
    isTimed = true;
    const ms = Math.max(SHORTEST_TIMER_MS, gapMs);
    const dueMs = monotonicMs() + ms;
    setTimeout(() => {
      isTimed = false;
      learn(monotonicMs() - dueMs);
      const turns = Math.max(1, Math.floor(SHORTEST_TIMER_MS / gapMs));
      for (let left = Math.min(turns, waiting.length); left > 0 && waiting.length > 0; ) {
        if (waiting.shift()?.()) left -= 1;
      }
      wait();
    }, ms);
  };
  const alone = (hasBacklog: boolean, read: () => boolean): void => {
    isAnyAlone = true;
    const wake = (): void => {
      isAnyAlone = false;
      read();
    };
    if (hasBacklog) setImmediate(wake);
    else setTimeout(wake, ALONE_MS);
  };

  return {
    scheduleRead(hasBacklog, read) {
      if (!isAnyAlone && waiting.length === 0) return alone(hasBacklog, read);
      waiting.push(read);
      wait();
    },
  };
}
