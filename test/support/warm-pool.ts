import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../../src/ports/repositories.ts';

const WITHIN_MS = 60_000;

/** Waits until the pool has exactly so many members, all ready; answers their db ids. */
export async function poolOf(
  { repositories }: Pick<Storage, 'repositories'>,
  size: number,
): Promise<string[]> {
  for (const end = Date.now() + WITHIN_MS; ; await sleep(20)) {
    const members = await repositories.warmPool.list('00000000-0000-4000-8000-000000000000', false);
    if (members.length === size && members.every((one) => one.state === 'ready')) {
      return members.map((one) => one.dbId);
    }
    if (Date.now() > end) throw new Error(`the pool has ${JSON.stringify(members)}`);
  }
}
