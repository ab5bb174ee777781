import pg from 'pg';
import t from 'tap';
import { freshDatabase } from '../support/database.ts';
import { aPlace, client, signInAdmin, startService } from '../support/running-service.ts';
import { terminalClient } from '../support/terminal-client.ts';

t.setTimeout(300_000);

const TERMINALS = 12;

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
  const opened = await Promise.all(
    Array.from({ length: TERMINALS }, (_, n) =>
      terminalClient(at, { connection_id: n === 0 ? 'main' : `p${n}` }, { origin: running.address }),
    ),
  );
  // Some clients hear nothing any more, and answer no close.
  for (const { socket } of opened.slice(TERMINALS / 2)) socket.pause();
  t.equal(await running.stop(), 0);
  const db = new pg.Client(url);
  await db.connect();
  t.teardown(() => db.end());
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
