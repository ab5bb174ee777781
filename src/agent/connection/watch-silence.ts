const CHECK_EVERY_MS = 1_000;
/** The wall clock gains this much on the monotonic clock only when the machine has slept or the clock was set. */
const SLEPT_MS = 5_000;
/** How long a ping after a sleep may go unanswered. */
const ANSWERED_WITHIN_MS = 5_000;

export type SilenceOptions = {
  readonly limitMs: () => number;
  readonly ping: () => void;
  readonly isSilent: (words: string) => void;
};

/**
 * Notices a line on which nothing is heard for too long. The monotonic clock may stand still while the machine sleeps.
 * So the line is tried when the wall clock has jumped forward: a healthy one answers, and stays.
 */
export function watchSilence({ limitMs, ping, isSilent }: SilenceOptions) {
  const clocks = () => ({ wallMs: Date.now(), monotonicMs: performance.now() });
  let before = clocks();
  let heardMs = before.monotonicMs;
  let triedMs = Number.POSITIVE_INFINITY;
  const check = (): void => {
    const now = clocks();
    const aheadMs = now.wallMs - before.wallMs - (now.monotonicMs - before.monotonicMs);
    before = now;
    if (aheadMs > SLEPT_MS) {
      triedMs = now.monotonicMs;
      ping();
    }
    const silentMs = now.monotonicMs - heardMs;
    if (silentMs > limitMs()) isSilent(`nothing was heard for ${Math.round(silentMs / 1_000)} s`);
    else if (now.monotonicMs - triedMs > ANSWERED_WITHIN_MS)
      isSilent('nothing was heard since the clock jumped forward');
  };
  const timer = setInterval(check, CHECK_EVERY_MS);
  return {
    heard: (): void => {
      heardMs = performance.now();
      triedMs = Number.POSITIVE_INFINITY;
    },
    stop: (): void => clearInterval(timer),
  };
}
