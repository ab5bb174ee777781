/** Loaded before the service by a bench: reports the process's memory on request. */
import { setTimeout as delay } from 'node:timers/promises';

process.on('message', (message) => {
  if (message !== 'memory') return;
  tell().catch((error: unknown) => process.stderr.write(`${error}\n`));
});
// The bench's channel must not keep the process alive.
process.channel?.unref();

async function tell(): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc?.();
    await delay(20);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ heldBytes: heapUsed + external, residentBytes: rss });
}
