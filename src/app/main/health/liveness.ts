export type Liveness = { readonly status: 'live' | 'stuck'; readonly detail?: string };

const MAX_LAG_MS = 2_000;
const CHECK_EVERY_MS = 500;
/** Three times the interval of the reconciler. */
const MAX_SILENCE_MS = 90_000;

/** Live while the event loop and the reconciler run; neither database nor engine is asked. */
export function livenessOf({ lagMs, silenceMs }: { lagMs: number; silenceMs: number }): Liveness {
  if (lagMs >= MAX_LAG_MS) return { status: 'stuck', detail: 'the event loop is late' };
  if (silenceMs >= MAX_SILENCE_MS) return { status: 'stuck', detail: 'reconciliation is overdue' };
  return { status: 'live' };
}

export type LoopLag = { readonly lagMs: () => number; readonly stop: () => void };

/** The event loop's present or last delay. */
export function watchLoop(nowMs: () => number = () => performance.now()): LoopLag {
  let seenAtMs = nowMs();
  let lastLagMs = 0;
  const lateMs = (): number => Math.max(0, nowMs() - seenAtMs - CHECK_EVERY_MS);
  const timer = setInterval(() => {
    lastLagMs = lateMs();
    seenAtMs = nowMs();
  }, CHECK_EVERY_MS);
  timer.unref();
  return { lagMs: () => Math.max(lastLagMs, lateMs()), stop: () => clearInterval(timer) };
}
