const TICK_MS = 100;
/** How late a timer may be on a busy machine without a blocked loop. */
const TOLERANCE_MS = 50;
/** More extensions do not help: the wait itself is too slow. */
const MAX_EXTENSIONS = 2;
const WORTH_MS = 250;

let seenAtMs = 0;
let lostMs = 0;
let ticker: NodeJS.Timeout | null = null;

const lateMs = (): number => Math.max(0, performance.now() - seenAtMs - TICK_MS - TOLERANCE_MS);

/** Starts measuring how long the event loop is blocked, in milliseconds; meanwhile no data is noticed. */
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

/** Whether a loop blocked for so long explains a wait that took too long. */
export const isWorthWaiting = (ms: number): boolean => ms >= WORTH_MS;

/** The work, or `late` after `ms` milliseconds of running event loop. */
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
