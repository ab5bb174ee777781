import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { storedContainer, storedUser } from '../../support/database/stored.ts';

/** Guarantees of stored disk use. */
export async function diskUseRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { containers, diskUse } = storage.repositories;

  await t.test(
    `${name}: what is found out about a volume is kept, and looked for once at a time`,
    async (t) => {
      const owner = await storedUser(storage);
      const box = await storedContainer(storage, owner.id);
      t.match(box, { diskQuota: 'soft', diskUsedMb: null });
      await diskUse.record(box.dbId, { quota: 'hard' });
      t.match(await containers.findAny(box.dbId), { diskQuota: 'hard', diskUsedMb: null });
      await diskUse.record(box.dbId, { usedMb: 51_200 });
      t.match(await containers.findAny(box.dbId), { diskQuota: 'hard', diskUsedMb: 51_200 });
      await diskUse.record(box.dbId, { layerUsedMb: 700 });
      t.match(await containers.findAny(box.dbId), { diskUsedMb: 51_200, layerUsedMb: 700 });
      await containers.changeState(box.dbId, ['running'], { state: 'running', runtimeId: 'f'.repeat(64) });
      t.match(await containers.findAny(box.dbId), { layerUsedMb: null }, 'another one has written nothing');
      const idle = await storedContainer(storage, owner.id);
      await containers.changeState(idle.dbId, ['running'], { state: 'stopped' });
      const claims = await Promise.all([1, 2, 3].map(() => diskUse.claimDue(50)));
      const claimed = claims.flat().map(({ dbId }) => dbId);
      t.equal(claimed.filter((dbId) => dbId === box.dbId).length, 1);
      t.notOk(claimed.includes(idle.dbId), 'only running ones');
      const seen = claims.flat().find(({ dbId }) => dbId === box.dbId);
      t.match(seen, { ownerUsername: owner.username, diskUsedMb: 51_200 });
    },
  );
}
