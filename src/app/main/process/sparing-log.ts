import type { Logger } from '../../../ports/logger.ts';

export const AGAIN_AFTER_MS = 300_000;

export type SparingLog = Logger & {
  /** Logs once that the faults since the last call are over; logs nothing if there were none. */
  readonly over: (message: string) => void;
};

/** A log for repeated work: the same fault is logged at once, then every `AGAIN_AFTER_MS`. */
export function sparingLog(log: Logger, nowMs: () => number = () => performance.now()): SparingLog {
  const loggedAtMs = new Map<string, number>();
  let isFaulty = false;

  const isDue = (key: string): boolean => {
    isFaulty = true;
    for (const [each, atMs] of loggedAtMs) if (nowMs() - atMs >= AGAIN_AFTER_MS) loggedAtMs.delete(each);
    if (loggedAtMs.has(key)) return false;
    loggedAtMs.set(key, nowMs());
    return true;
  };

  const sparing =
    (level: 'warn' | 'error') =>
    (first: object | string, message = ''): void => {
      if (typeof first === 'string') {
        if (isDue(first)) log[level](first);
      } else if (isDue(`${message}: ${String((first as { err?: unknown }).err)}`)) log[level](first, message);
    };

  return {
    info: log.info.bind(log),
    warn: sparing('warn'),
    error: sparing('error'),
    over: (message) => {
      if (isFaulty) log.info(message);
      isFaulty = false;
      loggedAtMs.clear();
    },
  };
}
