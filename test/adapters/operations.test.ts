import { randomUUID } from 'node:crypto';
import t from 'tap';
import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { anOperation, operationRepositoryContract } from '../contract/operation-repository.ts';
import { freshDatabase } from '../support/database.ts';
import { blockedIn } from '../support/locks.ts';
import { aPerson, aService, as } from '../support/service.ts';
import { passingIn } from '../support/time.ts';

const clock = fixedClock();
await operationRepositoryContract('memory', memoryStorage(clock), async (seconds) =>
  clock.advance(seconds * 1000),
);

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  await operationRepositoryContract('postgres', storage, passingIn(db, 'operations', 'lease_until'));

  await t.test('what is asked for while a delete is just ending finds the container deleted', async (t) => {
    const service = await aService({ storage, clock: { now: () => new Date() } });
    const ada = await aPerson(service, 'ada');
    const call = as(service, ada);
    const box = (await call('POST', '/api/containers', { name: 'dev' })).json();
    const [id, owner] = [randomUUID(), randomUUID()];
    const ending = anOperation(box.db_id, ada.id, owner);
    await storage.repositories.operations.begin({ ...ending, id, kind: 'delete' }, 60);
    await storage.repositories.containers.changeState(box.db_id, ['running'], { state: 'stopping' });
    let asked: Promise<{ statusCode: number }> | undefined;
    await storage.inTransaction(async (tx) => {
      await tx.operations.finish(id, owner, 'done');
      await tx.containers.changeState(box.db_id, ['stopping'], { state: 'deleted' });
      asked = call('POST', `/api/containers/${box.db_id}/stop`);
      await blockedIn(db)(1);
    });
    t.match(await asked, { statusCode: 404 });
    t.match(await storage.repositories.containers.findAny(box.db_id), { state: 'deleted' });
  });
}
