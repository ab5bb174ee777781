import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { readinessOf } from '../../src/app/main/readiness.ts';
import { freshDatabase } from '../support/database.ts';
import { aPerson, aService, as } from '../support/service.ts';

/** Shorter than those of the service, and long for a database that answers. */
const waits = { connectMs: 1_000, silenceMs: 1_500 };

/** Keeps the event loop from turning. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const url = await freshDatabase(t);
if (url !== null) {
  const pool = openPool({ url, poolSize: 2, waits });
  const db = openDatabase(pool);
  t.teardown(() => db.destroy());
  const service = await aService({ storage: postgresStorage(db) });
  const call = as(service, await aPerson(service, 'ada'));

  await t.test('a loop that stood still is no absent database', async (t) => {
    for (const idle of [true, false]) {
      // New connections are waited for as well as free ones.
      if (!idle) for (const client of [await pool.connect(), await pool.connect()]) client.release(true);
      const answers = Array.from({ length: 6 }, () => call('GET', '/api/containers'));
      await setImmediate();
      standStill(waits.connectMs + 500);
      for (const { statusCode } of await Promise.all(answers)) t.equal(statusCode, 200);
    }
  });

  await t.test('a statement is not silent because nobody listened', async (t) => {
    const client = await pool.connect();
    t.teardown(() => client.release());
    const sent = client.query('select pg_sleep(0.2), 1 as one');
    await setImmediate();
    standStill(waits.silenceMs + 300);
    t.equal((await sent).rows[0].one, 1);
  });

  await t.test('nor is the service unready', async (t) => {
    const up = { status: 'ready', detail: '' } as const;
    const parts = { engine: { ...up, status: 'down' as const }, image: up, disk: up, isolation: up };
    const database = async () => void (await pool.query('select pg_sleep(0.1)'));
    const asked = readinessOf(parts, { database, engine: async () => {} });
    await setImmediate();
    standStill(1_300);
    t.equal((await asked).parts.database.status, 'ready');
  });
}
