import { setTimeout as sleep } from 'node:timers/promises';

/** Whether all of it has ended in time. What takes longer goes on unheeded; a fault of it in time is thrown. */
export async function inTime(ms: number, work: readonly Promise<unknown>[]): Promise<boolean> {
  const all = Promise.all(work);
  // What fails later is nobody's any more.
  all.catch(() => undefined);
  const waiting = new AbortController();
  const late = sleep(Math.max(0, ms), false, { signal: waiting.signal }).catch(() => false);
  return await Promise.race([all.then(() => true), late]).finally(() => waiting.abort());
}
