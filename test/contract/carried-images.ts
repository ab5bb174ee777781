import t from 'tap';
import type { Storage } from '../../src/ports/repositories.ts';
import { NOBODY, storedContainer, storedUser } from '../support/stored.ts';

const changes = {
  packages: [{ manager: 'apt', name: 'jq', version: '1.6', change: 'added', automatic: false }],
  packageCount: 1,
  files: [],
  layerBytes: 12_345,
  complete: true,
} as const;

/** What remembering private images must guarantee. */
export async function carriedImagesContract(name: string, storage: Storage): Promise<void> {
  const { carried } = storage.repositories;

  await t.test(
    `${name}: a container is made of its last private image, until it is not any more`,
    async (t) => {
      const { dbId } = await storedContainer(storage, (await storedUser(storage)).id);
      t.equal(await carried.find(dbId), null);
      t.equal(await carried.find(NOBODY), null);
      const [first, second] = [`carried-${dbId}:g2`, `carried-${dbId}:g3`];
      await carried.put(dbId, { image: first, changes });
      t.same(await carried.find(dbId), { image: first, changes });
      await carried.put(dbId, { image: second, changes: null });
      t.same(await carried.find(dbId), { image: second, changes: null });
      t.notOk((await carried.inUse()).has(first));
      t.ok((await carried.inUse()).has(second));
      await carried.put(dbId, null);
      await carried.put(dbId, null);
      t.equal(await carried.find(dbId), null);
      t.notOk((await carried.inUse()).has(second));
    },
  );
}
