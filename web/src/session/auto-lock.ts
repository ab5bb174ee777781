import { locked, lockNow } from './session.ts';

const SIGNS_OF_LIFE = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
const POLL_MS = 5_000;
/** Steady input is passed on to other tabs this often. */
const POST_EVERY_MS = 1_000;
const LAST_SIGN = 'berth.last_sign_of_life';

let lastMs = Date.now();

/** Notes input in any tab, and passes on that of this one. Ends when the returned function is called. */
export function followSigns(): () => void {
  let postedMs = 0;
  lastMs = Date.now();
  const tabs = new BroadcastChannel(LAST_SIGN);
  const seen = (): void => {
    lastMs = Date.now();
    if (lastMs - postedMs < POST_EVERY_MS) return;
    postedMs = lastMs;
    tabs.postMessage(null);
  };
  tabs.addEventListener('message', () => {
    lastMs = Date.now();
  });
  for (const sign of SIGNS_OF_LIFE) addEventListener(sign, seen, { capture: true, passive: true });
  return () => {
    tabs.close();
    for (const sign of SIGNS_OF_LIFE) removeEventListener(sign, seen, { capture: true });
  };
}

/**
 * Locks the screen after this long without input in any tab. The service could not: a page that polls its containers
 * every few seconds counts as active. Ends when the returned function is called.
 */
export function lockWhenIdle(minutes: number): () => void {
  const timer = setInterval(() => {
    if (!locked.value && Date.now() - lastMs >= minutes * 60_000) void lockNow().catch(() => {});
  }, POLL_MS);
  return () => clearInterval(timer);
}
