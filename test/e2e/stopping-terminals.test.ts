import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { freshDatabase } from '../support/database.ts';
import { aPlace, client, signInAdmin, startService } from '../support/running-service.ts';
import { terminalClient } from '../support/terminal-client.ts';

t.setTimeout(300_000);

const TERMINALS = 16;
/** More than the service has connections to its database. */
const SILENT = 12;
/** Around the moment when those are cut off. */
const SLOW_AFTER_MS = 4_500;
const SLOW_MS = 1_500;

t.test('SIGTERM ends no process before the end of each of its terminals is on record', async (t) => {
  const url = await freshDatabase(t);
  const place = url === null ? null : await aPlace(t, { DATABASE_URL: url });
  if (url === null || place === null) return;
  const running = await startService(t, place);
  const token = await signInAdmin(running);
  const call = client(running.address, token);
  const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };
  const { body } = await call('POST', '/api/containers', { name: 'dev', ...small });
  const at = { address: running.address.replace('http', 'ws'), dbId: String(body['db_id']), token };
  const options = { origin: running.address, patienceMs: 60_000 };
  const opened = await Promise.all(
    Array.from({ length: TERMINALS }, (_, n) =>
      terminalClient(at, { connection_id: n === 0 ? 'main' : `p${n}` }, options),
    ),
  );
  // Some clients hear nothing any more, and answer no close.
  for (const { socket } of opened.slice(-SILENT)) socket.pause();
  const db = new pg.Client(url);
  await db.connect();
  t.teardown(() => db.end());
  const stopped = running.stop();
  await delay(SLOW_AFTER_MS);
  // The database takes its time.
  await db.query('begin');
  await db.query('lock table terminal_records in access exclusive mode');
  await delay(SLOW_MS);
  await db.query('commit');
  t.equal(await stopped, 0);
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
