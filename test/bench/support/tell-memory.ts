/** Loaded before the service by a bench: tells it what the process holds, when it is asked. */
import { setTimeout as delay } from 'node:timers/promises';

process.on('message', () => {
  tell().catch((error: unknown) => process.stderr.write(`${error}\n`));
});
// What the bench may ask is no reason to go on.
process.channel?.unref();

async function tell(): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc?.();
    await delay(20);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ heldBytes: heapUsed + external, residentBytes: rss });
}
