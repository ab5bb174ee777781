import pg from 'pg';
import pino from 'pino';
import t, { type Test } from 'tap';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { type BusPair, busContract } from '../../contract/bus.ts';
import { freshDatabase } from '../../support/database/database.ts';
import { waitFor } from '../../support/patience.ts';

const silent = pino({ level: 'silent' });

type Pair = BusPair & { readonly url: string; readonly name: string; readonly sql: pg.Client };

/** Two processes of which `there` can be told apart by its name in the server's list. */
async function openPair(t: Test): Promise<Pair | null> {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const name = /\/(t_\w+)\?/.exec(url)?.[1] ?? '';
  const sql = new pg.Client({ connectionString: url.replace(`/${name}?`, '/postgres?') });
  await sql.connect();
  const here = postgresBus(url, silent);
  const there = postgresBus(`${url}&application_name=there`, silent);
  t.teardown(async () => {
    await Promise.all([here.close(), there.close()]);
    await sql.end();
  });
  await waitFor(() => here.connected && there.connected);
  return {
    here,
    there,
    url,
    name,
    sql,
    cut: async () => {
      // Nobody may come back until it is mended; those who are there stay.
      await sql.query(`alter database ${name} with allow_connections false`);
      await terminate(sql, name, 'there');
    },
    mend: async () => void (await sql.query(`alter database ${name} with allow_connections true`)),
  };
}

const terminate = (sql: pg.Client, database: string, application: string) =>
  sql.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = $2',
    [database, application],
  );

/** For all of the file: who was cut off is back when a test ends. */
const pair = await openPair(t);
busContract(t, async () => pair);

t.test('a line that is cut once comes back by itself, and the gap is told', async (t) => {
  if (pair === null) return;
  let gaps = 0;
  pair.there.subscribe(
    'a',
    () => undefined,
    () => {
      gaps += 1;
    },
  );
  await terminate(pair.sql, pair.name, 'there');
  await waitFor(() => gaps === 1);
  t.ok(pair.there.connected);
});

t.test(
  'words of strangers on the channel are passed over, and a failing handler harms no other',
  async (t) => {
    if (pair === null) return;
    const heard: unknown[] = [];
    pair.there.subscribe(
      'a',
      () => {
        throw new Error('broken handler');
      },
      () => undefined,
    );
    pair.there.subscribe(
      'a',
      (message) => heard.push(message),
      () => undefined,
    );
    const stranger = new pg.Client({ connectionString: pair.url });
    await stranger.connect();
    for (const text of ['', '{', 'null', '[]', '{"topic":"a"}']) {
      await stranger.query('select pg_notify($1, $2)', ['berth', text]);
    }
    await stranger.end();
    pair.here.publish('a', { n: 1 });
    await waitFor(() => heard.length > 0);
    t.same(heard, [{ n: 1 }]);
    t.ok(pair.there.connected);
  },
);

t.test('one connection a process, outside any pool, and never inside a transaction', async (t) => {
  if (pair === null) return;
  let heard = 0;
  pair.there.subscribe(
    'a',
    () => {
      heard += 1;
    },
    () => undefined,
  );
  for (let n = 1; n <= 100; n += 1) {
    pair.here.publish('a', { n });
    await waitFor(() => heard === n);
  }
  const { rows } = await pair.sql.query(
    'select state, application_name from pg_stat_activity where datname = $1',
    [pair.name],
  );
  t.same(rows.length, 2);
  t.notOk(rows.some(({ state }) => String(state).includes('transaction')));
});
