import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from '../../client/index.ts';

const EACH_MS = 1000;
const UNDER_WAY: ReadonlySet<string> = new Set(['creating', 'starting', 'stopping', 'updating']);

/** Reads the container until nothing is being done to it. */
export async function untilSettled(container: Container): Promise<void> {
  while (UNDER_WAY.has(container.info.status)) {
    await delay(EACH_MS);
    await container.refresh();
  }
}
