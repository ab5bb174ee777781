import { setTimeout as sleep } from 'node:timers/promises';

export type PollLimits = { readonly withinMs: number; readonly everyMs?: number };

const EVERY_MS = 25;

/** Checks until there is an answer, at least once; null when none came in time. */
export async function poll<T>(
  check: () => Promise<T | null>,
  { withinMs, everyMs = EVERY_MS }: PollLimits,
): Promise<T | null> {
  for (const end = performance.now() + withinMs; ; await sleep(everyMs)) {
    const answer = await check();
    if (answer !== null || performance.now() >= end) return answer;
  }
}

/** Checks until the check holds, at least once; false when it did not in time. */
export const pollUntil = async (check: () => Promise<boolean>, limits: PollLimits): Promise<boolean> =>
  (await poll(async () => (await check()) || null, limits)) === true;
