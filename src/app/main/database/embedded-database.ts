import path from 'node:path';
import { startEmbedded } from '../../../adapters/postgres/embedded/index.ts';
import { repeat } from '../../../concurrency/repeat.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Config } from '../config.ts';
import { step } from '../process/console-progress.ts';
import type { Stops } from '../process/shutdown-stack.ts';

const CHECK_EVERY_MS = 1_000;
/** It has its own time limit, after which it is killed. */
const STOP_WITHIN_MS = 30_000;

/** Starts the embedded database, restarts it whenever its process ends, until it is stopped; returns its address. */
export async function embeddedUrl(
  { dataDir }: Config,
  log: Logger,
  opened: Stops,
  signal: AbortSignal,
): Promise<string> {
  const start = () => startEmbedded(path.join(dataDir, 'postgres'), { signal });
  let server = await step('Starting the embedded database', start);
  const restartEnded = async (): Promise<void> => {
    if (server.isAlive()) return;
    log.error('the embedded database ended unexpectedly: restarting it');
    server = await start();
  };
  const stopRestarting = repeat(CHECK_EVERY_MS, restartEnded, log);
  opened.add(
    'embedded database',
    async () => {
      await stopRestarting();
      await server.stop();
    },
    STOP_WITHIN_MS,
  );
  return server.url();
}
