import { onNotices } from '../lib/browser/network-notices.ts';

/** Polls the service: now, at an interval while the page is visible, and when it becomes visible again. */
export type Polling = {
  /** Resolves when a poll that began after this call has ended. */
  readonly now: () => Promise<void>;
  /** Polls once for any number of calls in a short time. A hidden page polls when it becomes visible. */
  readonly soon: () => void;
  readonly stop: () => void;
};

/** The shortest pause before a poll that nobody at the page asked for. */
const PAUSE_MS = 500;

/** `read` must not throw. It never runs twice at a time; `everyMs` is called before each wait. */
export function poll(read: () => Promise<void>, everyMs: () => number): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let again = false;
  let isDue = false;
  let endedMs = -PAUSE_MS;
  let running: Promise<void> | null = null;

  const isVisible = (): boolean => document.visibilityState === 'visible';
  const wait = (ms: number): void => {
    clearTimeout(timer);
    if (!stopped && isVisible()) timer = setTimeout(() => void now(), ms);
  };

  const round = async (): Promise<void> => {
    clearTimeout(timer);
    isDue = false;
    do {
      again = false;
      await read();
    } while (again && !stopped);
    running = null;
    endedMs = performance.now();
    wait(isDue ? PAUSE_MS : everyMs());
  };

  const now = (): Promise<void> => {
    if (running !== null) again = true;
    running ??= round();
    return running;
  };

  const soon = (): void => {
    if (isDue) return;
    isDue = true;
    if (running === null) wait(Math.max(0, endedMs + PAUSE_MS - performance.now()));
  };

  const stopNotices = onNotices({ wake: () => void now(), hidden: () => clearTimeout(timer) });
  void now();
  return {
    now,
    soon,
    stop() {
      stopped = true;
      clearTimeout(timer);
      stopNotices();
    },
  };
}
