const TICK_MS = 100;
/** A timer may be so late on a machine that is busy, without the loop having stood still. */
const TOLERANCE_MS = 50;
/** Waiting longer for what the loop lost helps once or twice; then the wait itself is at fault. */
const MAX_EXTENSIONS = 2;
const WORTH_MS = 250;

let seenAtMs = 0;
let lostMs = 0;
let ticker: NodeJS.Timeout | null = null;

const lateMs = (): number => Math.max(0, performance.now() - seenAtMs - TICK_MS - TOLERANCE_MS);

/** Counts from now on for how long the event loop stood still, in milliseconds. What arrives meanwhile is not seen. */
export function loopLoss(): () => number {
  if (ticker === null) {
    seenAtMs = performance.now();
    ticker = setInterval(() => {
      lostMs += lateMs();
      seenAtMs = performance.now();
    }, TICK_MS);
    ticker.unref();
  }
  const before = lostMs + lateMs();
  return () => lostMs + lateMs() - before;
}

/** Whether a loop that lost so much is to blame for a wait that took too long. */
export const isWorthWaiting = (ms: number): boolean => ms >= WORTH_MS;

/** The work, or `late` after `ms` milliseconds in which the event loop ran. */
export async function withinLoopTime<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<L>((resolve, reject) => {
    const wait = (forMs: number, extensions: number): void => {
      const loss = loopLoss();
      timer = setTimeout(() => {
        const lost = Math.min(loss(), ms);
        if (isWorthWaiting(lost) && extensions < MAX_EXTENSIONS) return wait(lost, extensions + 1);
        try {
          resolve(late());
        } catch (error) {
          reject(error);
        }
      }, forMs);
    };
    wait(ms, 0);
  });
  return await Promise.race([work, expired]).finally(() => clearTimeout(timer));
}
