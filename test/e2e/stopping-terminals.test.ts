import pg from 'pg';
import t from 'tap';
import { freshDatabase } from '../support/database/database.ts';
import { waitFor } from '../support/patience.ts';
import { small } from '../support/process/fault-scene.ts';
import { aPlace, client, signInAdmin, startService } from '../support/process/running-service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

t.setTimeout(300_000);

const TERMINALS = 16;
/** More than the service has connections to its database. */
const SILENT = 12;

t.test('SIGTERM tells each terminal to come back, and ends after the end of each is on record', async (t) => {
  const url = await freshDatabase(t);
  const place = url === null ? null : await aPlace(t, { DATABASE_URL: url });
  if (url === null || place === null) return;
  const running = await startService(t, place);
  const token = await signInAdmin(running);
  const call = client(running.address, token);
  const { body } = await call('POST', '/api/containers', { name: 'dev', ...small });
  const at = { address: running.address.replace('http', 'ws'), dbId: String(body['db_id']), token };
  const options = { origin: running.address, patienceMs: 60_000 };
  const opened = await Promise.all(
    Array.from({ length: TERMINALS }, (_, n) =>
      terminalClient(at, { connection_id: n === 0 ? 'main' : `p${n}` }, options),
    ),
  );
  // Some clients hear nothing any more, and answer no close.
  const silent = opened.slice(-SILENT);
  for (const { socket } of silent) socket.pause();
  const db = new pg.Client(url);
  await db.connect();
  t.teardown(() => db.end());
  const records = async (): Promise<number> =>
    (await db.query('select count(*)::int as count from terminal_records')).rows[0].count;
  const stopped = running.stop();
  // Those who hear and those who do not are told to come back; the latter are cut off later.
  await waitFor(async () => (await records()) === SILENT);
  // The database takes its time from before that moment until after it.
  await db.query('begin');
  await db.query('lock table terminal_records in access exclusive mode');
  await waitFor(async () => (await blockedBy(db)) > 0);
  await db.query('commit');
  t.equal(await stopped, 0);
  for (const one of opened.slice(0, -SILENT)) t.match(await one.closed(), [4012]);
  const { rows } = await db.query(
    `select action, count(*)::int from audit_records where action like 'terminal_%' group by action order by action`,
  );
  t.same(rows, [
    { action: 'terminal_closed', count: TERMINALS },
    { action: 'terminal_opened', count: TERMINALS },
  ]);
  t.same((await db.query('select id from terminal_records')).rows, [], 'and no record of one is left');
  for (const { socket } of opened) socket.terminate();
});

/** How many statements wait for a lock in this database. */
async function blockedBy(db: pg.Client): Promise<number> {
  const waiting = `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`;
  return (await db.query(waiting)).rows[0].count;
}
