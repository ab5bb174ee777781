import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { operationRepositoryContract } from '../contract/operation-repository.ts';
import { freshDatabase } from '../support/database.ts';

const clock = fixedClock();
await operationRepositoryContract('memory', memoryStorage(clock), async (seconds) =>
  clock.advance(seconds * 1000),
);

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  await operationRepositoryContract('postgres', postgresStorage(db), (seconds) => sleep(seconds * 1000));
}
