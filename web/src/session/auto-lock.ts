import { locked, lockNow } from './session.ts';

const SIGNS_OF_LIFE = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
const POLL_MS = 5_000;
const LAST_SIGN = 'berth.last_sign_of_life';

/**
 * Locks the screen after this long without input in any tab. The service could not: a page that polls its containers
 * every few seconds counts as active. Ends when the returned function is called.
 */
export function lockWhenIdle(minutes: number): () => void {
  let lastMs = Date.now();
  const tabs = new BroadcastChannel(LAST_SIGN);
  const seen = (): void => {
    if (Date.now() - lastMs > 1_000) tabs.postMessage(null);
    lastMs = Date.now();
  };
  tabs.addEventListener('message', () => {
    lastMs = Date.now();
  });
  const timer = setInterval(() => {
    if (!locked.value && Date.now() - lastMs >= minutes * 60_000) void lockNow().catch(() => {});
  }, POLL_MS);
  for (const sign of SIGNS_OF_LIFE) addEventListener(sign, seen, { capture: true, passive: true });
  return () => {
    clearInterval(timer);
    tabs.close();
    for (const sign of SIGNS_OF_LIFE) removeEventListener(sign, seen, { capture: true });
  };
}
