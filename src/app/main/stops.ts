import type { Logger } from '../../ports/logger.ts';
import { inTime } from './in-time.ts';

/** So long a part may take to stop, where it has no limit of its own. */
const PART_MS = 2_000;

/** What was opened, so that it is closed in the opposite order, each part whether or not another one failed. */
export type Stops = {
  /** What takes longer than `withinMs` is left alone, and the next part is stopped. */
  add(name: string, stop: () => Promise<void>, withinMs?: number): void;
  /** Runs every stop once; calling again waits for the same run. */
  run(): Promise<void>;
};

export function stops(log: Logger): Stops {
  const opened: { readonly name: string; readonly stop: () => Promise<void>; readonly withinMs: number }[] =
    [];
  let running: Promise<void> | undefined;

  const runAll = async (): Promise<void> => {
    for (const { name, stop, withinMs } of opened.reverse()) {
      try {
        if (!(await inTime(withinMs, [stop()]))) log.warn(`the ${name} did not stop in ${withinMs} ms`);
      } catch (error) {
        log.error({ err: error }, `could not stop the ${name}`);
      }
    }
  };
  return {
    add: (name, stop, withinMs = PART_MS) => void opened.push({ name, stop, withinMs }),
    run: () => {
      running ??= runAll();
      return running;
    },
  };
}
