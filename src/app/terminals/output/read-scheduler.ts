/** Between two reads of the only terminal with heavy output; what arrives meanwhile is read at once. */
const ALONE_MS = 1;
/** Between the turns of two such terminals; a turn is one read of at most 64 KiB. */
const SHORTEST_GAP_MS = 0.25;
const LONGEST_GAP_MS = 25;
const FIRST_GAP_MS = 8;
const SHORTEST_TIMER_MS = 1;
/** A timer this late means that this process waits for a processor, or is busy itself. */
const LATE_MS = 2;
const LONGER = 1.5;
const SHORTER = 0.99;

/** For so long after input to any terminal, reads of heavy output are at least this far apart: at most 16 MB/s. */
const TYPING_MS = 250;
const TYPING_GAP_MS = 4;
/** An answer to input later than this delays no read. */
const ANSWER_WITHIN_MS = 5;

export type ReadScheduler = {
  /**
   * Calls `read` at this terminal's next turn. `hasBacklog`: more output is already waiting. `read` returns whether it
   * reads; otherwise the turn passes on.
   */
  scheduleRead(hasBacklog: boolean, read: () => boolean): void;
  /** Call this on input to any terminal. */
  typed(): void;
  /** Call this on the first output of a terminal after its input. */
  answered(): void;
};

/**
 * Shares the processors between terminals with heavy output and interactive ones. A single heavy one is read as fast as
 * it writes. Several take turns, one after the other, since each read lets the program refill its pipe. The interval
 * grows when timers fire late, until about one in forty is late: that reflects all load on the machine. After input,
 * heavy output is read less often, and not between a keystroke and its echo, so that these find a free processor: each
 * read wakes the program that fills its pipe again.
 */
export function readScheduler(monotonicMs: () => number): ReadScheduler {
  const waiting: (() => boolean)[] = [];
  let isAnyAlone = false;
  let isTimed = false;
  let gapMs = FIRST_GAP_MS;
  let typedMs = Number.NEGATIVE_INFINITY;
  const { whenAnswered, ...answers } = awaitedAnswers(monotonicMs);
  const leastGapMs = (): number => (monotonicMs() - typedMs < TYPING_MS ? TYPING_GAP_MS : 0);
  const turnGapMs = (): number => Math.max(gapMs, leastGapMs());

  const learn = (lateMs: number): void => {
    const next = gapMs * (lateMs > LATE_MS ? LONGER : SHORTER);
    gapMs = Math.min(LONGEST_GAP_MS, Math.max(SHORTEST_GAP_MS, next));
  };
  const takeTurns = (): void => {
    isTimed = false;
    const turns = Math.max(1, Math.floor(SHORTEST_TIMER_MS / turnGapMs()));
    for (let left = Math.min(turns, waiting.length); left > 0 && waiting.length > 0; ) {
      if (waiting.shift()?.()) left -= 1;
    }
    wait();
  };
  const wait = (): void => {
    if (isTimed || waiting.length === 0) return;
    isTimed = true;
    const ms = Math.max(SHORTEST_TIMER_MS, turnGapMs());
    const dueMs = monotonicMs() + ms;
    setTimeout(() => {
      learn(monotonicMs() - dueMs);
      whenAnswered(takeTurns);
    }, ms);
  };
  const alone = (hasBacklog: boolean, read: () => boolean): void => {
    isAnyAlone = true;
    const wake = (): void => {
      isAnyAlone = false;
      read();
    };
    const restMs = Math.max(hasBacklog ? 0 : ALONE_MS, leastGapMs());
    if (restMs === 0) setImmediate(wake);
    else setTimeout(() => whenAnswered(wake), restMs);
  };

  return {
    scheduleRead(hasBacklog, read) {
      if (!isAnyAlone && waiting.length === 0) return alone(hasBacklog, read);
      waiting.push(read);
      wait();
    },
    typed() {
      typedMs = monotonicMs();
      answers.await();
    },
    answered: answers.came,
  };
}

/** Answers to input: what is due before the awaited one waits for it, but not for long. */
function awaitedAnswers(monotonicMs: () => number) {
  let untilMs = Number.NEGATIVE_INFINITY;
  let held: (() => void)[] = [];
  const release = (): void => {
    const due = held;
    held = [];
    for (const work of due) work();
  };
  return {
    await(): void {
      untilMs = monotonicMs() + ANSWER_WITHIN_MS;
    },
    came(): void {
      untilMs = Number.NEGATIVE_INFINITY;
      // The answer is sent first.
      if (held.length > 0) setImmediate(release);
    },
    whenAnswered(work: () => void): void {
      if (monotonicMs() >= untilMs) {
        work();
        return;
      }
      const mine = held;
      if (mine.push(work) > 1) return;
      setTimeout(() => {
        if (held === mine) release();
      }, ANSWER_WITHIN_MS);
    },
  };
}
