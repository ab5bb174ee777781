import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { inTransaction } from '../../../src/adapters/postgres/connection/transaction.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { StorageTooSlow } from '../../../src/ports/storage.ts';
import { freshDatabase, statementsOf } from '../../support/database/database.ts';
import { randomName } from '../../support/database/stored.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';

const url = await freshDatabase(t);

/** A way to the database that can keep its answers back, and knows what it was sent. */
async function aLine(t: Test, to: string) {
  const folder = decodeURIComponent(/host=([^&]+)/.exec(to)?.[1] ?? '');
  const name = '.s.PGSQL.5432';
  const own = await mkdtemp(path.join(tmpdir(), 'berth-line-'));
  const state = { sent: '', isHeld: false, held: [] as (() => void)[] };
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(path.join(folder, name));
    sockets.push(near, far);
    near.on('data', (data) => {
      state.sent += data.toString('latin1');
      far.write(data);
    });
    far.on('data', (data) => {
      if (state.isHeld) state.held.push(() => near.write(data));
      else near.write(data);
    });
    for (const socket of [near, far]) socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(path.join(own, name), resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(own, { recursive: true, force: true });
  });
  const release = (): void => {
    state.isHeld = false;
    for (const write of state.held.splice(0)) write();
  };
  return { url: to.replace(/host=[^&]+/, `host=${encodeURIComponent(own)}`), state, release };
}

if (url !== null) {
  await t.test('statements side by side in a transaction are sent before any is answered', async (t) => {
    const line = await aLine(t, url);
    const db = openDatabase(openPool({ url: line.url, poolSize: 1 }));
    t.teardown(() => db.destroy());
    await sql`select 1`.execute(db);
    line.state.isHeld = true;
    const texts = ['first', 'second', 'third'];
    const done = inTransaction(db, (tx) =>
      Promise.all(texts.map((text) => sql<{ text: string }>`select ${text}::text as text`.execute(tx))),
    );
    await waitFor(() => texts.every((text) => line.state.sent.includes(text)));
    line.release();
    t.same(
      (await done).map(({ rows }) => rows[0]?.text),
      texts,
    );
  });

  await t.test('a statement behind a slow one has its own time', async (t) => {
    const db = openDatabase(openPool({ url, poolSize: 1, answerWithinMs: 1_500 }));
    t.teardown(() => db.destroy());
    const slow = sql`select pg_sleep(1)`;
    await t.resolves(inTransaction(db, (tx) => Promise.all([slow.execute(tx), slow.execute(tx)])));
  });

  await t.test('the outcome of a stop or a start is sent before any of it is answered', async (t) => {
    const line = await aLine(t, url);
    const pool = openPool({ url: line.url, poolSize: 4 });
    const statements = statementsOf(pool);
    const db = openDatabase(pool);
    t.teardown(() => db.destroy());
    const runtime = memoryRuntime();
    const service = await aService({ runtime, storage: postgresStorage(db) });
    const call = as(service, await aPerson(service, randomName()));
    const { db_id: dbId } = (await call('POST', '/api/containers', { name: 'dev' })).json();
    const written = () =>
      statements.flatMap((one) => /(?:^update|insert into|with .* update) "?(\w+)/.exec(one)?.[1] ?? []);
    for (const [action, tables] of [
      ['stop', ['containers', 'operations', 'audit_records', 'events']],
      ['start', ['containers', 'operations', 'containers', 'audit_records', 'events']],
    ] as const) {
      const act = runtime[action];
      runtime[action] = async (...given: Parameters<typeof act>) => {
        const done = await (act as (...all: typeof given) => never)(...given);
        statements.length = 0;
        line.state.isHeld = true;
        return done;
      };
      const answer = call('POST', `/api/containers/${dbId}/${action}`);
      await waitFor(() => line.state.isHeld && written().includes('events'), { what: () => `${statements}` });
      t.same(written(), tables, 'the row first');
      line.release();
      t.equal((await answer).statusCode, 200);
    }
  });

  await t.test('all statements behind a failed one in a transaction fail for its reason', async (t) => {
    const db = openDatabase(openPool({ url, poolSize: 1 }));
    t.teardown(() => db.destroy());
    const outcomes = async (first: string) => {
      const statements: Promise<unknown>[] = [];
      const work = inTransaction(db, async (tx) => {
        for (const text of [first, 'select 1', 'select 2']) statements.push(sql.raw(text).execute(tx));
        await Promise.all(statements);
      });
      await t.rejects(work);
      return await Promise.allSettled(statements);
    };
    const divided = { status: 'rejected', reason: { code: '22012' } };
    t.match(await outcomes('select 1 / 0'), [divided, divided, divided]);
    const failed = `do 'begin raise exception using errcode = ''57014''; end'`;
    const tooSlow = { status: 'rejected', reason: StorageTooSlow };
    t.match(await outcomes(failed), [tooSlow, tooSlow, tooSlow], 'of the next transaction too');
  });
}
