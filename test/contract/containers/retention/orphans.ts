import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../../src/ports/storage.ts';

/** Guarantees of stored orphans. */
export async function orphanRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { orphans } = storage.repositories;

  await t.test(`${name}: an orphan keeps its first time for as long as it is named`, async (t) => {
    const [a, b] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
    const first = await orphans.remember([a]);
    t.same([...first.keys()], [a]);
    const second = await orphans.remember([a, b]);
    t.same(second.get(a), first.get(a));
    t.same(new Set(second.keys()), new Set([a, b]));
    t.same([...(await orphans.remember([])).keys()], []);
  });
}
