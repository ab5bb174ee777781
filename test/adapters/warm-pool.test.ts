import t from 'tap';
import {
  fixedClock,
  memoryRuntime,
  memoryStorage,
  memoryWarmPoolEngine,
} from '../../src/adapters/memory/index.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { warmPoolEngineContract } from '../contract/warm-pool-engine.ts';
import { warmPoolRepositoryContract } from '../contract/warm-pool-repository.ts';
import { freshDatabase } from '../support/database.ts';
import { aPerson, aService, as } from '../support/service.ts';
import { passingIn } from '../support/time.ts';
import { poolOf } from '../support/warm-pool.ts';

const clock = fixedClock();
await warmPoolRepositoryContract('memory', memoryStorage(clock), async (seconds) =>
  clock.advance(seconds * 1000),
);
const warmPool = memoryWarmPoolEngine();
warmPool.images.set('absent', null);
await warmPoolEngineContract('memory', { warmPool, image: 'any', absent: 'absent' });

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url, poolSize: 12 }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  await warmPoolRepositoryContract('postgres', storage, passingIn(db, 'warm_pool', 'lease_until'));

  await t.test('of many creates at once on two replicas, each gets a container of its own', async (t) => {
    const engine = memoryRuntime();
    const ports = {
      storage,
      runtime: engine,
      warmPool: memoryWarmPoolEngine(),
      clock: { now: () => new Date() },
    };
    const [here, there] = await Promise.all([1, 2].map(() => aService(ports, { warmPoolSize: 4 })));
    if (here === undefined || there === undefined) throw new Error('no service');
    t.teardown(() => Promise.all([here, there].map((one) => one.warmPool.stop())));
    here.warmPool.soon();
    there.warmPool.soon();
    const members = await poolOf(storage, 4);
    t.equal(members.length, 4, 'the replicas share one pool');
    const people = await Promise.all(['ada', 'bob', 'cy'].map((name) => aPerson(here, name)));
    const answers = await Promise.all(
      people.flatMap((who) =>
        [here, there].map((service, n) => as(service, who)('POST', '/api/containers', { name: `box-${n}` })),
      ),
    );
    t.same(
      answers.map((one) => one.statusCode),
      Array(6).fill(201),
    );
    const ids = answers.map((one) => one.json().db_id as string);
    t.equal(new Set(ids).size, 6);
    t.equal(new Set(answers.map((one) => one.json().id)).size, 6);
    const given = members.filter((id) => ids.includes(id));
    t.equal(given.length, 4, 'every member was given to somebody, and to one alone');
  });
}
