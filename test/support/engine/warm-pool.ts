import type { Storage } from '../../../src/ports/storage.ts';
import { waitFor } from '../patience.ts';

const WITHIN_MS = 60_000;

/** Waits until the pool has exactly so many members, all ready; answers their db ids. */
export async function poolOf(
  { repositories }: Pick<Storage, 'repositories'>,
  size: number,
): Promise<string[]> {
  let members: Awaited<ReturnType<typeof repositories.warmPool.list>> = [];
  const isFull = async (): Promise<boolean> => {
    members = await repositories.warmPool.list('00000000-0000-4000-8000-000000000000', false);
    return members.length === size && members.every((one) => one.state === 'ready');
  };
  const what = (): string => `${size} members; the pool has ${JSON.stringify(members)}`;
  await waitFor(isFull, { patienceMs: WITHIN_MS, everyMs: 20, what });
  return members.map((one) => one.dbId);
}
