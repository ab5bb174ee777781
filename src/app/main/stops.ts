import type { Logger } from '../../ports/logger.ts';

/** What was opened, so that it is closed in the opposite order, each part whether or not another one failed. */
export type Stops = {
  add(name: string, stop: () => Promise<void>): void;
  /** Runs every stop once; calling again waits for the same run. */
  run(): Promise<void>;
};

export function stops(log: Logger): Stops {
  const opened: { readonly name: string; readonly stop: () => Promise<void> }[] = [];
  let running: Promise<void> | undefined;

  const runAll = async (): Promise<void> => {
    for (const { name, stop } of opened.reverse()) {
      await stop().catch((error: unknown) => log.error({ err: error }, `could not stop the ${name}`));
    }
  };
  return {
    add: (name, stop) => void opened.push({ name, stop }),
    run: () => {
      running ??= runAll();
      return running;
    },
  };
}
