import type { Logger } from '../../../ports/logger.ts';

const EVERY_MS = 2_000;

/** Calls `report` every two seconds, never twice at once, until it answers false, which is told to `lost`. */
export function reporting(
  report: () => Promise<boolean>,
  lost: () => void,
  log: Logger,
): { stop(): Promise<void> } {
  let last: Promise<void> = Promise.resolve();
  let stopped = false;
  let timer = setTimeout(again, EVERY_MS);

  function again(): void {
    last = report()
      .catch((err: unknown) => {
        log.warn({ err }, 'could not save the progress of a role setup');
        return true;
      })
      .then((goesOn) => {
        if (!goesOn) lost();
        else if (!stopped) timer = setTimeout(again, EVERY_MS);
      });
  }
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await last;
    },
  };
}
