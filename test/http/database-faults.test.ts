import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import { openDatabase, openPool, WAITS } from '../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { readinessOf } from '../../src/app/main/health/readiness.ts';
import { freshDatabase, run } from '../support/database/database.ts';
import { waitFor } from '../support/patience.ts';
import { aLineTo } from '../support/process/lines.ts';
import { aPerson, aService, as, type Bearer, small } from '../support/service/service.ts';

/**
 * A service with a running container, on a database behind a proxy, and an administrator's connection to that. `waits`
 * shortens its time limits.
 */
async function aScene(t: Test, waits: Partial<typeof WAITS> = {}) {
  const real = await freshDatabase(t);
  if (real === null) return null;
  const line = await aLineTo(t, real);
  const db = openDatabase(openPool({ url: line.url, waits }));
  const admin = new pg.Client({ connectionString: real });
  await admin.connect();
  t.teardown(async () => {
    line.restore();
    await admin.end();
    await db.destroy();
  });
  const service = await aService({ storage: postgresStorage(db), runtime: memoryRuntime() });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const box = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
  const stop = () => call('POST', `/api/containers/${box.db_id}/stop`);
  const start = () => call('POST', `/api/containers/${box.db_id}/start`);
  const status = async () => (await call('GET', `/api/containers/${box.db_id}`)).json().status;
  const name = (await admin.query('select current_database() as name')).rows[0].name as string;
  /** Ends or cancels the service's connections in this state; returns their number. */
  const interrupt = async (how: 'pg_terminate_backend' | 'pg_cancel_backend', which = 'true') => {
    const text = `select ${how}(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and ${which}`;
    return (await admin.query(text)).rows.length;
  };
  const elsewhere = real.replace(`/${name}?`, '/postgres?');
  return { service, ada, call, line, admin, elsewhere, name, start, stop, status, interrupt };
}

type Scene = NonNullable<Awaited<ReturnType<typeof aScene>>>;
type Answer = Awaited<ReturnType<Scene['call']>>;

function isToldToComeAgain(t: Test, answer: Answer, what: string): void {
  t.same([answer.statusCode, answer.json().code], [503, 'unavailable'], what);
  t.match(answer.headers['retry-after'], /^[1-5]$/, what);
}

const usual = await aScene(t);

t.test('a read-only database answers reads, and writes with 503', async (t) => {
  if (usual === null) return;
  const { admin, name, call, stop, status, interrupt } = usual;
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  await interrupt('pg_terminate_backend');
  const reads = async (): Promise<boolean> => (await call('GET', '/api/containers')).statusCode === 200;
  await waitFor(reads, { what: 'reads go on' });
  isToldToComeAgain(t, await stop(), 'a write');
  await admin.query(`alter database ${name} reset default_transaction_read_only`);
  const works = async (): Promise<boolean> => (await stop()).statusCode === 200;
  await waitFor(works, { what: 'the connections that took no writes are not used again' });
  t.equal(await status(), 'stopped');
});

t.test('a statement ended or cancelled from outside is 503', async (t) => {
  if (usual === null) return;
  const { admin, start, stop, interrupt } = usual;
  for (const how of ['pg_terminate_backend', 'pg_cancel_backend'] as const) {
    t.equal((await start()).statusCode, 200);
    await admin.query('begin; lock table containers in share row exclusive mode');
    const stopping = stop();
    await waitFor(() => interrupt(how, "wait_event_type = 'Lock'"), { what: 'a query waits' });
    isToldToComeAgain(t, await stopping, how);
    await admin.query('rollback');
    await waitFor(async () => (await stop()).statusCode === 200, { what: 'and is served again' });
  }
});

t.test('a database that accepts no connections is 503', async (t) => {
  if (usual === null) return;
  const { elsewhere, name, call, start, stop, interrupt } = usual;
  t.equal((await start()).statusCode, 200);
  await run(elsewhere, `alter database ${name} with allow_connections false`);
  await interrupt('pg_terminate_backend');
  isToldToComeAgain(t, await stop(), 'a write');
  isToldToComeAgain(t, await call('GET', '/api/containers'), 'a read');
  await run(elsewhere, `alter database ${name} with allow_connections true`);
  t.equal((await stop()).statusCode, 200);
});

t.test('a long wait for a lock is 503', async (t) => {
  const scene = await aScene(t, { lockMs: 300 });
  if (scene === null) return;
  const { admin, service, call, stop, status } = scene;
  await admin.query('begin; lock table containers in share row exclusive mode');
  isToldToComeAgain(t, await stop(), 'a stop');
  isToldToComeAgain(t, await call('POST', '/api/containers', { name: 'other', ...small }), 'a create');
  await admin.query('rollback');
  await service.reconcile();
  t.equal(await status(), 'running', 'and it is not done later');
  t.equal((await stop()).statusCode, 200);
});

t.test('a silent connection is 503 and replaced', async (t) => {
  const scene = await aScene(t, { connectMs: 1_000, silenceMs: 2_000 });
  if (scene === null) return;
  const { service, ada, line, stop } = scene;
  const other: Bearer = { token: `svc_${'0'.repeat(64)}` };
  line.stall();
  const requests = [
    stop(),
    as(service, other)('GET', '/api/me'),
    ...Array.from({ length: 30 }, () => as(service, ada)('GET', '/api/containers')),
    as(service, ada)('POST', '/api/containers', { name: 'k', ...small }, { 'idempotency-key': 'k' }),
  ];
  for (const answer of await Promise.all(requests)) isToldToComeAgain(t, answer, 'silent');
  line.restore();
  await waitFor(async () => (await stop()).statusCode === 200, { what: 'and works again' });
});

t.test('every wait of a request ends within five seconds', async (t) => {
  const { connectMs, lockMs, statementMs, silenceMs } = WAITS;
  t.ok(lockMs < statementMs && statementMs < silenceMs, 'a server that lives says so itself');
  t.ok(silenceMs < 5_000, 'a statement on a connection that is open');
  t.ok(connectMs + connectMs < 5_000, 'a place in the pool, and then a connection');
});

/** Blocks the event loop. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

t.test('a blocked event loop is not blamed on the database', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  /** Shorter than the service's, and long for a database that answers. */
  const waits = { connectMs: 1_000, silenceMs: 1_500 };
  const pool = openPool({ url, poolSize: 2, waits });
  const db = openDatabase(pool);
  t.teardown(() => db.destroy());
  const service = await aService({ storage: postgresStorage(db) });
  const call = as(service, await aPerson(service, 'ada'));

  await t.test('a blocked event loop is no absent database', async (t) => {
    for (const idle of [true, false]) {
      // New connections wait as well as free ones.
      if (!idle) for (const client of [await pool.connect(), await pool.connect()]) client.release(true);
      const answers = Array.from({ length: 6 }, () => call('GET', '/api/containers'));
      await setImmediate();
      standStill(waits.connectMs + 500);
      for (const { statusCode } of await Promise.all(answers)) t.equal(statusCode, 200);
    }
  });

  await t.test('a blocked event loop makes no statement silent', async (t) => {
    const client = await pool.connect();
    t.teardown(() => client.release());
    const sent = client.query('select pg_sleep(0.2), 1 as one');
    await setImmediate();
    standStill(waits.silenceMs + 300);
    t.equal((await sent).rows[0].one, 1);
  });

  await t.test('a blocked event loop does not make the service unready', async (t) => {
    const up = { status: 'ready', detail: '' } as const;
    const all = { image: up, disk: up, isolation: up, resources: up };
    const parts = { ...all, engine: { ...up, status: 'down' as const } };
    const database = async () => void (await pool.query('select pg_sleep(0.1)'));
    const asked = readinessOf(parts, { database, engine: async () => {} });
    await setImmediate();
    standStill(1_300);
    t.equal((await asked).parts.database.status, 'ready');
  });
});
