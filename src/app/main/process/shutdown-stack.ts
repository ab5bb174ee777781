import { within } from '../../../concurrency/timeout.ts';
import type { Logger } from '../../../ports/logger.ts';

/** Default time limit of a part's stop. */
const PART_MS = 2_000;

/** The open parts, closed in reverse order, each even if another one failed. */
export type Stops = {
  /** After `withinMs` the next part is stopped without waiting. After `run` it is stopped at once. */
  add(name: string, stop: () => Promise<void>, withinMs?: number): void;
  /** Runs every stop once; another call waits for the same run. */
  run(): Promise<void>;
};

export function stops(log: Logger): Stops {
  const opened: { readonly name: string; readonly stop: () => Promise<void>; readonly withinMs: number }[] =
    [];
  let running: Promise<void> | undefined;

  const runAll = async (): Promise<void> => {
    for (let part = opened.pop(); part !== undefined; part = opened.pop()) {
      const { name, stop, withinMs } = part;
      try {
        const isStopped = await within(
          withinMs,
          stop().then(() => true),
          false,
        );
        if (!isStopped) log.warn(`the ${name} did not stop in ${withinMs} ms`);
      } catch (error) {
        log.error({ err: error }, `could not stop the ${name}`);
      }
    }
  };
  return {
    add: (name, stop, withinMs = PART_MS) => {
      opened.push({ name, stop, withinMs });
      if (running !== undefined) running = running.then(runAll);
    },
    run: () => {
      running ??= runAll();
      return running;
    },
  };
}
