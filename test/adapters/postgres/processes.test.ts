import { sql } from 'kysely';
import pino from 'pino';
import t from 'tap';
import { memoryRuntime, memoryWarmPoolEngine } from '../../../src/adapters/memory/index.ts';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { freshDatabase } from '../../support/database/database.ts';
import { randomName } from '../../support/database/stored.ts';
import { poolOf } from '../../support/engine/container.ts';
import { waitFor } from '../../support/patience.ts';
import { anApiToken, aPerson, aService, as } from '../../support/service/service.ts';

const clock = { now: () => new Date() };

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url, poolSize: 12 }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);

  /** One of several processes on the database. */
  const aProcess = async (monotonicMs = (): number => performance.now(), on = storage) => {
    const bus = postgresBus(url, pino({ level: 'silent' }));
    t.teardown(() => bus.close());
    await waitFor(() => bus.connected);
    return await aService({ storage: on, bus, clock, monotonicMs });
  };
  const [here, there] = [await aProcess(), await aProcess()];
  const ada = await aPerson(here, 'ada');

  await t.test('one cached lookup serves many concurrent requests', async (t) => {
    const token = await anApiToken(here, ada);
    let asked = 0;
    const { findWithUser } = storage.repositories.tokens;
    storage.repositories.tokens.findWithUser = (hashes) => {
      asked += 1;
      return findWithUser(hashes);
    };
    const use = () => as(here, token)('GET', '/api/tokens/validate');
    await Promise.all(Array.from({ length: 50 }, use));
    t.equal(asked, 1);
    for (let i = 0; i < 20; i += 1) t.equal((await use()).statusCode, 200);
    t.ok(asked <= 3, `asked ${asked} times`);
    storage.repositories.tokens.findWithUser = findWithUser;
  });

  await t.test('the token limit holds on two processes at once', async (t) => {
    const eve = await aPerson(here, 'eve');
    for (let i = 0; i < 95; i += 1) await anApiToken(here, eve);
    const create = (service: typeof here) => as(service, eve)('POST', '/api/tokens', { name: 'ci' });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => create(i % 2 ? here : there)));
    const statuses = answers.map((answer) => answer.statusCode).sort();
    t.same(statuses, [201, 201, 201, 201, 201, 409, 409, 409, 409, 409]);
  });

  await t.test('a thousand uses in each of two processes write the row once', async (t) => {
    const token = await anApiToken(here, ada);
    const version = async () => {
      const { rows } = await sql<{
        xmin: string;
      }>`select xmin from api_tokens where id = ${token.id}`.execute(db);
      return rows[0]?.xmin;
    };
    await as(here, token)('GET', '/api/me');
    const first = await version();
    for (let i = 0; i < 1000; i += 50) {
      const uses = (service: typeof here) =>
        Array.from({ length: 50 }, () => as(service, token)('GET', '/api/tokens/validate'));
      await Promise.all([...uses(here), ...uses(there)]);
      await Promise.all([here.writeDue(), there.writeDue()]);
    }
    t.equal(await version(), first, 'the first use; the next is due in a minute');
    await here.flush();
    t.not(await version(), first, 'or at the end of a process');
  });

  await t.test('two processes share the request limit', async (t) => {
    // All requests at one moment, also by the database's clock.
    const now = new Date();
    const { requestCounts } = storage.repositories;
    const add: typeof requestCounts.add = async (batch) => ({ ...(await requestCounts.add(batch)), now });
    const repositories = { ...storage.repositories, requestCounts: { ...requestCounts, add } };
    const still = () => aProcess(() => 0, { ...storage, repositories });
    const both = [await still(), await still()];
    const token = await anApiToken(here, ada);
    await storage.repositories.settings.change({ requestsPerMinute: 40 });
    const statuses: number[] = [];
    for (let i = 0; i < 60; i += 1) {
      for (const one of both.slice(i % 2, 1 + (i % 2)))
        statuses.push((await as(one, token)('GET', '/api/tokens/validate')).statusCode);
      await Promise.all(both.map((one) => one.writeDue()));
    }
    // A process learns the sum when it sends its own: this one does not know the last request of the other yet.
    t.same(statuses, [...Array(41).fill(200), ...Array(19).fill(429)]);
    await storage.repositories.settings.change({ requestsPerMinute: 0 });
  });

  await t.test('concurrent creates on two replicas each get their own container', async (t) => {
    const engine = memoryRuntime();
    const ports = {
      storage,
      runtime: engine,
      warmPool: memoryWarmPoolEngine(),
      clock,
    };
    const [here, there] = await Promise.all([1, 2].map(() => aService(ports, { warmPoolSize: 4 })));
    if (here === undefined || there === undefined) throw new Error('no service');
    t.teardown(() => Promise.all([here, there].map((one) => one.warmPool.stop())));
    here.warmPool.soon();
    there.warmPool.soon();
    const members = await poolOf(storage, 4);
    t.equal(members.length, 4, 'the replicas share one pool');
    const people = await Promise.all([1, 2, 3].map(() => aPerson(here, randomName())));
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
