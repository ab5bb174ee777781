import { randomBytes } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { freshDatabase } from '../support/database/database.ts';
import { aKeptContainer, eventually, inside } from '../support/process/fault-scene.ts';
import {
  aPlace,
  client,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const SESSIONS = "tmux -S /run/berth-tmux list-sessions -F '#{session_name}' | sort | tr '\\n' ' '";
const MARKED = 'grep -lsF BERTH_TERM= /proc/[0-9]*/environ | wc -l';

t.test('a killed service leaves nothing behind in containers but the main session', async (t) => {
  const url = await freshDatabase(t);
  const shared = { DATABASE_URL: url ?? '', BERTH_JWT_SECRET: randomBytes(48).toString('base64') };
  const places = [await aPlace(t, shared), await aPlace(t, shared)];
  if (url === null || !places[0] || !places[1]) return;
  const db = new pg.Client(url);
  await db.connect();
  t.teardown(() => db.end());
  const first = await startService(t, places[0]);
  const token = await signInAdmin(first);
  const other = await startService(t, places[1]);
  const { dbId } = await aKeptContainer(client(first.address, token));
  const callOther = client(other.address, token);
  const open = async (at: Running, pane: string) => {
    const address = at.address.replace('http', 'ws');
    const query = { connection_id: pane };
    const opened = await terminalClient({ address, dbId, token }, query, { origin: at.address });
    await opened.until(() => opened.output().includes('# '));
    return opened;
  };
  const listed = async () =>
    ((await callOther('GET', '/api/admin/terminals')).body['terminals'] as { connection_id: string }[])
      .map(({ connection_id }) => connection_id)
      .sort();
  for (const pane of ['main', 'split']) await open(first, pane);
  await open(other, 'theirs');
  t.same(await listed(), ['main', 'split', 'theirs']);
  t.equal(await inside(callOther, dbId, SESSIONS), 'main pane-split pane-theirs ');

  await first.stop('SIGKILL');
  const second = await startService(t, places[0]);
  const call = client(second.address, token);
  t.same(await listed(), ['theirs'], 'a restart ends what was on record of the run before');
  t.equal(
    await eventually(
      () => inside(call, dbId, MARKED),
      (left) => left === '1\n',
    ),
    '1\n',
    'the programs that the killed one was attached by end at once',
  );
  t.equal(await inside(call, dbId, SESSIONS), 'main pane-split pane-theirs ', 'a client may come back');
  // Instead of waiting for more than a minute, and then for the next look of a service that runs.
  if (process.env['FAULTS'] !== 'all') await second.stop('SIGKILL');
  await db.query(`update replica_runs set seen_at = seen_at - interval '2 minutes'
    where run in (select run from terminal_holds where mux_session = 'pane-split')`);
  const ended = 'main pane-theirs ';
  if (process.env['FAULTS'] !== 'all') await startService(t, places[0]);
  const sessions = await eventually(
    () => inside(callOther, dbId, SESSIONS),
    (left) => left === ended,
    150,
  );
  t.equal(sessions, ended, 'nobody came, and what the other process has stays');
});
