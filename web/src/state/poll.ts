import { onNotices } from '../lib/browser/network-notices.ts';

/** Polls the service: now, at an interval while the page is visible, and when it becomes visible again. */
export type Polling = { readonly now: () => Promise<void>; readonly stop: () => void };

/** `read` must not throw. It never runs twice at a time; `everyMs` is called before each wait. */
export function poll(read: () => Promise<void>, everyMs: () => number): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let again = false;
  let running: Promise<void> | null = null;

  const round = async (): Promise<void> => {
    clearTimeout(timer);
    do {
      again = false;
      await read();
    } while (again && !stopped);
    running = null;
    if (!stopped && document.visibilityState === 'visible') timer = setTimeout(() => void now(), everyMs());
  };

  /** Resolves when a poll that began after this call has ended. */
  const now = (): Promise<void> => {
    if (running !== null) again = true;
    running ??= round();
    return running;
  };

  const stopNotices = onNotices({ wake: () => void now(), hidden: () => clearTimeout(timer) });
  void now();
  return {
    now,
    stop() {
      stopped = true;
      clearTimeout(timer);
      stopNotices();
    },
  };
}
